# SPDX-License-Identifier: Apache-2.0
"""The number of series: docs/metrics.md has a formula and an example, which the page of the demo must obey."""

import json
import os
import re

import e2e

_, ROOT = e2e.arguments()
PAGE = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
LATER = ["topdownd_budget_used_ratio"]  # known after the first half minute


def formula():
    text, = re.findall(r"^    (S x .*)$", PAGE, re.M)
    return compile(re.sub(r"(\d) ([A-Z])", r"\1 * \2", text.replace(" x ", " * ")), "docs/metrics.md", "eval")


def inputs(page, catalog, plan, status):
    measured = [metric for metric in catalog["metrics"] if metric["selected"] and metric["planned"]]
    ratios = {labels["metric"] for name, labels, _ in e2e.samples(page) if name == "topdownd_metric_numerator_total"}
    return {"S": len(status["sockets"]), "C": sum(metric["category"] is not None for metric in measured), "M": len(measured),
            "R": len(ratios), "D": sum(metric["definition"] is not None for metric in measured), "G": len(plan["event_groups"]),
            "E": len(status["pmu_errors"]), "L": len(status["events_not_live"])}


def test_the_page_of_the_demo_has_as_many_series_as_the_formula_and_the_example_say():
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "slot: 100ms\n") as daemon:
        daemon.wait_round(3)
        page, *others = daemon.of_one_snapshot("/metrics", "/api/v1/catalog", "/api/v1/plan", "/api/v1/status")
    found = inputs(page, *map(json.loads, others))
    names = [name for name, _, _ in e2e.samples(page)]
    n = len(names) + sum(name not in names for name in LATER)
    assert n == eval(formula(), {}, found), (n, found)
    example = re.search(r"A two-socket Neoverse V2 with the default profile has (.*): (\d+) series", PAGE)
    assert example.group(1) == ", ".join(f"{key} = {found[key]}" for key in "CMRDGEL"), (example.group(0), found)
    assert int(example.group(2)) == n, (example.group(0), n)
    return f"{n} series"


if __name__ == "__main__":
    e2e.run_tests()
