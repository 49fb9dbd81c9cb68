# SPDX-License-Identifier: Apache-2.0
"""The names that every vendor has: each implementation has a definition, and one definition is one kind of count."""

import os
import sys

import e2e

_, ROOT = e2e.arguments()
sys.path.insert(0, os.path.join(ROOT, "docs"))
import tables  # noqa: E402

TABLE = tables.Table()
SPECS = tables.specs()


def neutral():
    for spec, metrics in SPECS.items():
        for metric in TABLE.metrics:
            if metric in metrics:
                yield spec, metric, metrics[metric]


def test_every_neutral_metric_has_a_definition_of_the_table():
    n = 0
    for spec, metric, entry in neutral():
        key = entry["own"].get("definition")
        assert key in TABLE.metrics[metric]["definitions"], f"{spec}: {metric}: definition {key} is not in specs/neutral/definitions.json"
        n += 1
    for spec, metrics in SPECS.items():
        for metric, entry in metrics.items():
            assert "definition" not in entry["own"] or metric in TABLE.metrics, f"{spec}: {metric} has a definition and is not in the table"
    return f"{n} metrics of {len(SPECS)} specs"


def test_one_definition_is_one_kind_of_count_on_every_cpu():
    kinds, keys = {}, {}
    for spec, metric, entry in neutral():
        key = entry["own"].get("definition")
        try:
            kind = TABLE.kind(spec, entry["formula"])
        except KeyError as unknown:
            raise AssertionError(f"{spec}: {metric}: say in specs/neutral/definitions.json what {unknown} counts") from None
        first = kinds.setdefault((metric, key), (kind, spec))
        assert first[0] == kind, f"{metric}, definition {key}: {first[1]} counts {first[0]}, {spec} counts {kind}"
        first = keys.setdefault((metric, kind), (key, spec))
        assert first[0] == key, f"{metric}, {kind}: is {first[0]} on {first[1]} and {key} on {spec}"
    return f"{len(kinds)} definitions"


def test_a_neutral_metric_has_one_threshold_on_every_cpu():
    for spec, metric, entry in neutral():
        limit = TABLE.metrics[metric].get("threshold")
        wanted = f"{entry['name']} > {limit:g}" if limit is not None else None
        assert entry["own"].get("threshold") == wanted, f"{spec}: {metric}: threshold {entry['own'].get('threshold')}, not {wanted}"


def test_the_tables_of_the_page_are_those_of_the_specs():
    text = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
    assert tables.up_to_date(text) == text, "docs/metrics.md is out of date: run docs/tables.py"


if __name__ == "__main__":
    e2e.run_tests()
