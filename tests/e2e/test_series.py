# SPDX-License-Identifier: Apache-2.0
"""The number of series: docs/metrics.md has a formula and an example, which the page of the demo must obey."""

import json
import os
import re

import e2e

_, ROOT = e2e.arguments()
PAGE = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
OUTSIDE = ("topdownd_memory_", "topdownd_llc_miss_bytes", "topdownd_interconnect_bytes", "topdownd_uncore_",
           "topdownd_numa_", "topdownd_resctrl_")  # of PMUs outside the cores, and what the kernel counts of memory
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


def warnings(pmu="sim", **settings):
    """What check-config says of the numbers of series, for the demo or another simulated host."""
    text = "".join(f"{key}: {value}\n" for key, value in settings.items())
    status, said = e2e.run_daemon("check-config", "--pmu", pmu, yaml=e2e.LISTEN_ANYWHERE + text)
    assert status == 0, said
    return re.findall(r"^warning: \S+:\d+: (/metrics\S*) (?:has|would have) (\d+) series, more than (\w+) \((\d+)\)", said, re.M)


def test_check_config_warns_above_the_limits_and_only_there():
    example = re.search(r"A two-socket Neoverse V2 with the default profile has .*: (\d+) series", PAGE).group(1)
    assert warnings() == []
    assert warnings(max_series=example) == []
    assert warnings(max_series=int(example) - 1) == [("/metrics", example, "max_series", str(int(example) - 1))]
    assert warnings(max_series="none", max_cpu_series="none") == []
    (page, series, key, limit), = warnings(max_cpu_series=1000)
    assert (page, key, limit) == ("/metrics/cpu", "max_cpu_series", "1000")
    assert warnings(max_cpu_series=series) == []


def test_a_host_with_pmus_outside_its_cores_has_at_most_20_series_more_which_count():
    numbers = []
    for scenario in ("sapphire-rapids", "zen4"):
        (_, series, _, _), = warnings(f"sim:{scenario}", max_series=10)
        with e2e.Daemon("--pmu", f"sim:{scenario}", yaml=e2e.LISTEN_ANYWHERE + "slot: 100ms\n") as daemon:
            daemon.wait_round(3)
            names = [name for name, _, _ in e2e.samples(daemon.get("/metrics"))]
        outside = sum(name.startswith(OUTSIDE) for name in names)
        n = len(names) + sum(name not in names for name in LATER)
        assert 0 < outside <= 20 and n - outside <= 300 and n <= 320, (scenario, n, outside)
        assert abs(int(series) - n) <= 2, (scenario, series, n)
        numbers.append(f"{scenario} {n}, of which {outside}")
    return "; ".join(numbers)


def test_the_daemon_warns_of_both_at_its_start():
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "max_series: 10\nmax_cpu_series: 20\n") as daemon:
        e2e.wait_for(lambda: "more than max_cpu_series (20), so it leaves out: " in daemon.log(), "the second warning")
        assert re.search(r"/metrics has \d+ series, more than max_series \(10\): select fewer metric groups", daemon.log())


if __name__ == "__main__":
    e2e.run_tests()
