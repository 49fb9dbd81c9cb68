# SPDX-License-Identifier: Apache-2.0
"""What the documentation says of the tree, held against the tree."""

import glob
import os
import re

import e2e

_, ROOT = e2e.arguments()


def rules_of(path, begin, end):
    text = e2e.read_text(os.path.join(ROOT, path))
    section = text[text.index(begin):text.index(end)]
    return re.findall(r"^\d+\. \*\*(.*?)[.,]?\*\*(.*?)(?=^\d+\. |\Z)", section, re.M | re.S)


def test_each_rule_of_the_measurement_names_tests_that_are_run():
    rules = rules_of("docs/measurement.md", "## Rules", "## What can be measured")
    tested = rules_of("tests/README.md", "## Rules and their tests", "## What can be measured")
    assert [title for title, _ in rules] == [title for title, _ in tested] and len(rules) >= 10, (rules, tested)
    for title, names in tested:
        assert re.search(r"`test_\w+`", names), f"rule \"{title}\" names no test"
    sources = [e2e.read_text(path) for path in glob.glob(os.path.join(ROOT, "tests/*/test_*.c"))]
    programs = [e2e.read_text(path) for path in glob.glob(os.path.join(ROOT, "tests/*/test_*.py"))]
    named = re.findall(r"`(test_\w+)`", e2e.read_text(os.path.join(ROOT, "tests/README.md")))
    for name in named:
        run = (sum(len(re.findall(rf"^static void {name}\(", s, re.M)) > 0 and len(re.findall(rf"\({name}\)", s)) > 0
                   for s in sources) + sum(f"\ndef {name}(" in p for p in programs))
        assert run > 0, f"tests/README.md names {name}, and no test is called so"
    return f"{len(rules)} rules, {len(named)} tests"


def test_the_rooms_of_the_architecture_are_those_that_the_layer_test_knows():
    text = e2e.read_text(os.path.join(ROOT, "docs/ARCHITECTURE.md"))
    table = text[text.index("| room | subject |"):text.index("Layers:")]
    told = []
    for names in re.findall(r"^\| (\w+/[\w, /]+) \|", table, re.M):
        layer = names.split("/")[0]
        told += [name if "/" in name else f"{layer}/{name}" for name in names.split(", ")]
    source = e2e.read_text(os.path.join(ROOT, "tests/unit/test_layers.c"))
    rooms = re.findall(r'"(\w+/\w+)/"', source[source.index("ROOMS[] ="):source.index("};", source.index("ROOMS[] ="))])
    assert sorted(told) == sorted(rooms), set(told) ^ set(rooms)
    folders = [path for path, _, files in os.walk(ROOT) if any(name.endswith(".c") for name in files)]
    folders = {os.path.relpath(path, ROOT) for path in folders}
    assert {path for path in folders if path.split("/")[0] in ("core", "config", "collectors", "exporters", "daemon", "top")} - {"daemon", "top"} == set(rooms)
    return f"{len(rooms)} rooms"


def test_each_section_about_an_alert_has_its_alert():
    """test_rules.py holds that each alert has a section."""
    files = glob.glob(os.path.join(ROOT, "packaging/prometheus/topdownd.*.yml"))
    alerts = {alert for path in files for alert in re.findall(r"- alert: (\w+)", e2e.read_text(path))}
    sections = re.findall(r"^### (Topdownd\w+)$", e2e.read_text(os.path.join(ROOT, "docs/fleet.md")), re.M)
    assert len(sections) == len(set(sections)) and alerts == set(sections), alerts ^ set(sections)
    return f"{len(alerts)} alerts"


if __name__ == "__main__":
    e2e.run_tests()
