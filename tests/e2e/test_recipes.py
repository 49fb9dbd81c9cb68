# SPDX-License-Identifier: Apache-2.0
"""The PromQL of the documentation, asked of a real Prometheus that scrapes an ordinary host and one with cores of several types."""

import contextlib
import os
import re
import tempfile

import e2e
import test_prometheus

BINARY, ROOT = e2e.arguments()
YAML = e2e.LISTEN_ANYWHERE + "slot: 50ms\nstandard_error: true\nprofiles: {default: {groups: [stage_1, General, MPKI]}}\n"
# Comparisons that hold only on hosts in trouble, and software events, which these hosts do not measure.
MAY_BE_EMPTY = re.compile(r" > \d|^topdownd_event_not_live|^topdownd_recording_up == 0|context_switches_per_second|^sort_desc")


def recipes():
    """Every block of PromQL in the documentation, with windows that fit in a test."""
    with open(os.path.join(ROOT, "docs/metrics.md"), encoding="utf-8") as file:
        section = file.read().split("\n## Recipes\n")[1].split("\n## ")[0]
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        blocks = [block for block in file.read().split("```")[1::2] if block.startswith("\n") and "(rate(" in block]
    paragraphs = [paragraph.strip("\n") for paragraph in section.split("\n\n")]
    blocks += [paragraph for paragraph in paragraphs if paragraph.startswith("    ")]
    return [re.sub(r"\[\d+m\]", "[1m]", block).strip() for block in blocks]


def test_recipes_have_answers_on_a_fleet_with_and_without_core_types():
    asked = recipes()
    assert len(asked) >= 15, asked
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        hosts = {job: stack.enter_context(e2e.Daemon("--pmu", f"sim:{os.path.join(ROOT, path)}", yaml=YAML)) for job, path in
                 (("ordinary", "tests/data/scenarios/steady.json"), ("hybrid", "scenarios/hybrid.json"))}
        prometheus = stack.enter_context(test_prometheus.Prometheus(folder, [(job, host.port, "/metrics") for job, host in hosts.items()]))
        rates = 'count by (job, core_type) (rate(topdownd_metric_numerator_total{metric="branch_mpki"}[1m]) > 0)'
        e2e.wait_for(lambda: len(prometheus.query(rates)) == 4, "rates of both hosts")  # one type on one host, three on the other
        for promql in asked:
            found = prometheus.query(promql)
            assert found or MAY_BE_EMPTY.search(promql), promql
        by_model = next(promql for promql in asked if "microarchitecture" in promql).replace('"ipc"', '"branch_mpki"')
        models = {labels["microarchitecture"] for labels, _ in prometheus.query(by_model)}
        assert models == {"neoverse-v2", "c1-ultra", "c1-pro", "c1-nano"}, models
    return f"{len(asked)} queries"


if __name__ == "__main__":
    e2e.run_tests()
