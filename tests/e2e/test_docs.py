# SPDX-License-Identifier: Apache-2.0
"""What the documentation says of the tree, held against the tree."""

import glob
import os
import re

import e2e

_, ROOT = e2e.arguments()


def test_each_rule_of_the_architecture_names_tests_that_are_run():
    text = e2e.read_text(os.path.join(ROOT, "docs/ARCHITECTURE.md"))
    section = text[text.index("## How it measures"):text.index("## Choices")]
    rules = re.findall(r"^(\d+)\. \*\*(.*?)(?=^\d+\. |^\*\*|\Z)", section, re.M | re.S)
    assert [int(number) for number, _ in rules] == list(range(1, len(rules) + 1)) and len(rules) >= 10, rules
    sources = [e2e.read_text(path) for path in glob.glob(os.path.join(ROOT, "tests/*/test_*.c"))]
    programs = [e2e.read_text(path) for path in glob.glob(os.path.join(ROOT, "tests/*/test_*.py"))]
    for number, rule in rules:
        assert re.search(r"`test_\w+`", rule), f"rule {number} names no test"
    named = re.findall(r"`(test_\w+)`", section)
    for name in named:
        run = (sum(len(re.findall(rf"^static void {name}\(", s, re.M)) > 0 and len(re.findall(rf"\({name}\)", s)) > 0
                   for s in sources) + sum(f"\ndef {name}(" in p for p in programs))
        assert run > 0, f"docs/ARCHITECTURE.md names {name}, and no test is called so"
    return f"{len(rules)} rules, {len(named)} tests"


if __name__ == "__main__":
    e2e.run_tests()
