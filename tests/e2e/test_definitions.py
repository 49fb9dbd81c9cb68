# SPDX-License-Identifier: Apache-2.0
"""The names that every vendor has: each implementation has a definition, and one definition is one kind of count."""

import os
import sys
import tempfile

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
                for entry in tables.implementations(metrics, metric):
                    yield spec, metric, entry


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


DEAD = os.path.join(ROOT, "tests/data/scenarios/dead.json")
DEAD_YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\nprofiles: {default: {groups: [General, LL_Cache_Effectiveness]}}\n"


def definitions(daemon):
    return {labels["metric"]: labels["definition"] for name, labels, _ in e2e.samples(daemon.get("/metrics"))
            if name == "topdownd_metric_info"}


def check_l3_refills(daemon):
    assert definitions(daemon)["ll_cache_mpki"] == "l3_refills", definitions(daemon)
    page = daemon.get("/metrics")
    assert abs(e2e.value_of(page, "topdownd_ll_cache_mpki", socket="0") - 5) < 1e-6
    assert abs(e2e.value_of(page, "topdownd_ll_cache_miss_ratio", socket="0") - 0.25) < 1e-6
    entries = {entry["name"]: entry for entry in daemon.json("/api/v1/catalog")["metrics"] if entry["metric"] == "ll_cache_mpki"}
    assert {name: entry["planned"] for name, entry in entries.items()} == {
        "ll_cache_read_mpki": False, "ll_cache_read_mpki.l3_refills": True, "ll_cache_read_mpki.l2_refills": False}
    assert entries["ll_cache_read_mpki.l3_refills"]["alternative_of"] == "ll_cache_read_mpki" and entries["ll_cache_read_mpki"]["alternative_of"] is None


def test_where_an_event_is_dead_another_definition_counts_also_in_recordings_and_logs():
    with tempfile.TemporaryDirectory() as folder:
        recording, log = os.path.join(folder, "recording"), os.path.join(folder, "log.csv")
        with e2e.Daemon("--pmu", f"sim:{DEAD}", "--record", recording, yaml=DEAD_YAML) as daemon:
            assert definitions(daemon)["ll_cache_mpki"] == "reads"
            e2e.wait_for(lambda: definitions(daemon)["ll_cache_mpki"] == "l3_refills", "the other definition")
            daemon.wait_round(daemon.sequence() + 3)
            check_l3_refills(daemon)
            daemon.stop()
        with e2e.Daemon("--pmu", f"replay:{recording}", "--speed", "0", yaml=DEAD_YAML) as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the replay")
            check_l3_refills(daemon)
            daemon.stop()
        rates = {"CPU_CYCLES": 2000000000, "INST_RETIRED": 1000000000, "LL_CACHE_RD": 9000000, "LL_CACHE_MISS_RD": 0,
                 "L3D_CACHE": 20000000, "L3D_CACHE_REFILL": 5000000}
        e2e.write_text(log, "".join(f"{second}.000000000,{rate},,{event.lower()},1000000000,100.00,,\n"
                                    for second in (1, 2, 3) for event, rate in rates.items()))
        with e2e.Daemon("--pmu", f"replay:{log}", "--spec", "neoverse-v1", "--speed", "0", yaml=DEAD_YAML) as daemon:
            e2e.wait_for(lambda: "have been replayed" in daemon.log(), "the end of the log")
            check_l3_refills(daemon)
            daemon.stop()


if __name__ == "__main__":
    e2e.run_tests()
