# SPDX-License-Identifier: Apache-2.0
"""The number of series: docs/metrics.md has a formula and an example, which the page of the demo must obey."""

import glob
import inspect
import json
import os
import re
import subprocess
import tempfile

import e2e
import test_host_memory
import uncore_hosts

BINARY, ROOT = e2e.arguments()
PAGE = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
MANUAL = e2e.read_text(os.path.join(ROOT, "docs/topdownd.yaml.5"))
FLEET = e2e.read_text(os.path.join(ROOT, "docs/fleet.md"))
OUTSIDE = ("topdownd_memory_", "topdownd_llc_miss_bytes", "topdownd_interconnect_bytes", "topdownd_uncore_",
           "topdownd_numa_", "topdownd_resctrl_")  # of PMUs outside the cores, and what the kernel counts of memory
RARE = ("topdownd_not_ready", "topdownd_bound_since_unseen")  # before the first round ends; until a verdict follows the first one
BOUNDS = "topdownd_opportunity_pipeline_slots_total"  # beside the 300 series of the cores
LATER = ["topdownd_budget_used_ratio"]  # known after the first half minute


def formula():
    text, = re.findall(r"^    (S x .*)$", PAGE, re.M)
    return compile(re.sub(r"(\d) ([A-Z])", r"\1 * \2", text.replace(" x ", " * ")), "docs/metrics.md", "eval")


def inputs(page, catalog, plan, status):
    measured = [metric for metric in catalog["metrics"] if metric["selected"] and metric["planned"]]
    ratios = {labels["metric"] for name, labels, _ in e2e.samples(page) if name == "topdownd_metric_numerator_total"}
    return {"S": len(status["sockets"]), "C": sum(metric["category"] is not None for metric in measured), "M": len(measured),
            "R": len(ratios), "O": len({labels["action"] for name, labels, _ in e2e.samples(page) if name == BOUNDS}), "U": "topdownd_busy_cpu_seconds_total{" in page, "D": sum(metric["definition"] is not None for metric in measured), "G": len(plan["event_groups"]),
            "E": len(status["pmu_errors"]), "L": len(status["events_not_live"])}


def test_the_page_of_the_demo_has_as_many_series_as_the_formula_and_the_example_say():
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "slot: 100ms\n") as daemon:
        daemon.wait_round(3)
        page, *others = daemon.of_one_snapshot("/metrics", "/api/v1/catalog", "/api/v1/plan", "/api/v1/status")
    found = inputs(page, *map(json.loads, others))
    names = [name for name, _, _ in e2e.samples(page) if name not in RARE]
    n = len(names) + sum(name not in names for name in LATER)
    assert n == eval(formula(), {}, found), (n, found)
    example = re.search(r"A two-socket Neoverse V2 with the default profile has (.*): (\d+) series", PAGE)
    assert example.group(1) == ", ".join(f"{key} = {found[key]:d}" for key in "CMROUDGEL"), (example.group(0), found)
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
            names = [name for name, _, _ in e2e.samples(daemon.get("/metrics")) if name not in RARE]
        outside = sum(name.startswith(OUTSIDE) for name in names)
        n, bounds = len(names) + sum(name not in names for name in LATER), names.count(BOUNDS)
        assert 0 < outside <= 20 and n - outside - bounds <= 300 and bounds <= 20 and n <= 350, (scenario, n, outside, bounds)
        assert abs(int(series) - n) <= 2, (scenario, series, n)
        numbers.append(f"{scenario} {n}, of which {outside}")
    return "; ".join(numbers)


def explained(*words, yaml=""):
    """The number of series that explain says, and all that it says."""
    with tempfile.TemporaryDirectory() as folder:
        path = e2e.write_text(os.path.join(folder, "a.yaml"), yaml)
        done = subprocess.run([BINARY, "explain", *words, "--config", path, "--path.data", ROOT], capture_output=True, text=True, timeout=e2e.TIMEOUT)
    assert (done.returncode, done.stderr) == (0, ""), done
    return int(re.search(r"^(\d+) series on /metrics", done.stdout, re.M).group(1)), done.stdout


def test_explain_says_how_many_there_are_whatever_is_configured():
    numbers = []
    with tempfile.TemporaryDirectory() as folder:
        for pmu, yaml in (("zen4", "profiles: {default: {groups: [MPKI]}}\n"), ("neoverse-n1", "profiles: {default: {groups: [Software]}}\n"),
                          ("zen4", "profiles: {default: {groups: []}}\n"), ("demo", "standard_error: true\nmode: adaptive\n"),
                          ("hybrid", f"record: {{path: {folder}/a}}\ntextfile: {{path: {folder}}}\n")):
            n, _ = explained("--pmu", f"sim:{pmu}", yaml=yaml)
            with e2e.Daemon("--pmu", f"sim:{pmu}", yaml=e2e.LISTEN_ANYWHERE + "slot: 100ms\n" + yaml) as daemon:
                def served():  # but for what is said before the first round ends
                    names = [name for name, _, _ in e2e.samples(daemon.get("/metrics")) if name not in RARE]
                    return len(names) + sum(name not in names for name in LATER)
                e2e.wait_for(lambda: served() >= n, f"{n} series of {pmu} with {yaml}")
                assert served() == n, (pmu, yaml, n)
            numbers.append(f"{pmu} {n}")
    return ", ".join(numbers)


def test_the_manuals_limits_hold_for_every_host_with_two_sockets():
    """Hosts with PMUs outside the cores of each kind, the kernel's counts of memory, guests, a recording and the text file."""
    of_cores, more = map(int, re.search(r"at most (\d+) of the cores and the daemon .*, and (\d+) more", MANUAL).groups())
    outside, memory = int(re.search(r"and at most (\d+) on a host with every kind", PAGE).group(1)), int(
        re.search(r"resctrl tells: at most (\d+)", PAGE).group(1))
    sums = set(map(int, re.findall(r"at most (3\d\d) on two sockets", PAGE) + re.findall(r"\(at most (\d+), \[metrics.md\]", FLEET)))
    assert outside + memory + 2 + 3 + 2 <= more and sums == {of_cores + more}, (outside, memory, more, sums)
    found = []
    for _, build in inspect.getmembers(uncore_hosts, inspect.isfunction):
        if list(inspect.signature(build).parameters)[:1] != ["folder"]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            build(folder)
            words = ("--pmu", "auto", "--path.sysfs", folder, "--path.procfs", folder)
            (all_, said), (without, _) = explained(*words), explained(*words, yaml="uncore: {enabled: off}\n")
            sockets = 2 * (" on 2 sockets" in said)
            assert without <= of_cores and all_ - without + sockets <= outside, (build, all_, without)  # no memory here states its peak
            found.append(all_ - without)
    assert len(found) > 15 and max(found) + 2 > outside - 3, ("the limit is not close", found)
    with tempfile.TemporaryDirectory() as folder:
        host = test_host_memory.two_nodes(folder).node(2, "")
        host.resctrl()
        host.write({"devices/virtual/memory_tiering/memory_tier4/nodelist": "0-1", "devices/virtual/memory_tiering/memory_tier22/nodelist": "2"})
        words = ("--pmu", "auto", "--path.sysfs", folder, "--path.procfs", folder)
        n = explained(*words)[0] - explained(*words, yaml="uncore: {numa: off, resctrl: off}\n")[0]
        assert 0 < n + 2 <= memory, n  # resctrl counts for one socket here
    return f"{max(found)} and {n} more"


def test_the_numbers_of_the_simulated_hosts_are_those_of_the_fleet():
    numbers = []
    for path in glob.glob(os.path.join(ROOT, "scenarios/*.json")):
        n, said = explained("--pmu", f"sim:{os.path.splitext(os.path.basename(path))[0]}")
        if " on 2 sockets" in said:
            numbers.append(n)
    least, most = map(int, re.search(r"series that topdownd exports \| (\d+) to (\d+) on the simulated hosts", FLEET).groups())
    assert (least, most) == (min(numbers), max(numbers)), numbers


def test_the_daemon_warns_of_both_at_its_start():
    with e2e.Daemon("--pmu", "sim", yaml=e2e.LISTEN_ANYWHERE + "max_series: 10\nmax_cpu_series: 20\n") as daemon:
        e2e.wait_for(lambda: "more than max_cpu_series (20), so it leaves out: " in daemon.log(), "the second warning")
        assert re.search(r"/metrics has \d+ series, more than max_series \(10\): select fewer metric groups", daemon.log())


if __name__ == "__main__":
    e2e.run_tests()
