# SPDX-License-Identifier: Apache-2.0
"""packaging/prometheus: promtool accepts it, what it records are sums before ratios, each alert fires when it should and is silent
when it should be, and every name in it is one that the documentation has."""

import glob
import json
import os
import re
import subprocess

import e2e
import promtool
from promtool import CATEGORIES, REASONS, ROOT, Rules, grows, series, stays

BINARY, _ = e2e.arguments()
DAY, WEEK = 24 * 60, 7 * 24 * 60  # minutes
LEVEL1 = {"frontend_bound": 0.2, "bad_speculation": 0.1, "retiring": 0.5, "backend_bound": 0.2}
SLOTS = 1e9  # a second, of an ordinary host, half of its peak
N1 = {"model": "Neoverse N1", "microarchitecture": "neoverse-n1", "spec": "neoverse-n1"}


def level1(about, *parts):
    """Pipeline slots of (shares, for minutes), so many a second."""
    return {series("topdownd_pipeline_slots_total", **about, socket=0, category=category):
            grows(*((shares[category] * slots, minutes) for shares, slots, minutes in parts)) for category in CATEGORIES}


def ratio(about, metric, definition, *parts):
    """The counters of a metric of (numerator, denominator, for minutes) a second."""
    return {series("topdownd_metric_numerator_total", **about, socket=0, metric=metric): grows(*((n, m) for n, _, m in parts)),
            series("topdownd_metric_denominator_total", **about, socket=0, metric=metric): grows(*((d, m) for _, d, m in parts)),
            series("topdownd_metric_info", **about, metric=metric, definition=definition): stays((1, sum(m for _, _, m in parts) + 1))}


def bound(about, path, category, minutes):
    return {series("topdownd_bound_info", **about, socket=0, path=path, category=category): stays((1, minutes))}


def times(about, *parts):
    """Covered and uncovered time of four CPUs: ({reason: share}, for minutes)."""
    found = {series("topdownd_covered_cpu_seconds_total", **about, socket=0):
             grows(*((4 * (1 - sum(lost.values())), minutes) for lost, minutes in parts))}
    for reason in REASONS:
        found[series("topdownd_uncovered_cpu_seconds_total", **about, socket=0, reason=reason)] = grows(
            *((4 * lost.get(reason, 0), minutes) for lost, minutes in parts))
    return found


def host(instance="web-1", role="web", minutes=120, info=None):
    """A host without any trouble. Tests change the series that they are about."""
    about = {"job": "topdownd", "instance": instance, "role": role}
    found = {series("up", **about): stays((1, minutes)), series("topdownd_cpu_info", **about, **(info or N1)): stays((1, minutes)),
             series("topdownd_peak_pipeline_slots_per_second", **about, socket=0): stays((2 * SLOTS, minutes)),
             series("topdownd_retiring_ratio", **about, socket=0): stays((0.5, minutes)),
             series("topdownd_cpus", **about, socket=0, state="measured"): stays((4, minutes)),
             series("topdownd_collection_seconds_total", **about): grows((0.0001, minutes)),
             series("topdownd_interrupt_seconds_total", **about): grows((0.0001, minutes)),
             series("topdownd_pmu_up", **about, pmu="armv8_pmuv3_0"): stays((1, minutes)),
             series("topdownd_pmu_counters", **about, pmu="armv8_pmuv3_0", state="total"): stays((7, minutes)),
             series("topdownd_pmu_counters", **about, pmu="armv8_pmuv3_0", state="usable"): stays((7, minutes)),
             series("topdownd_event_group_enabled_seconds_total", **about, event_group="stage_1"): grows((1, minutes)),
             series("topdownd_event_group_running_seconds_total", **about, event_group="stage_1"): grows((1, minutes)),
             series("topdownd_last_snapshot_timestamp_seconds", **about): f"0+60x{minutes}",
             series("topdownd_budget_used_ratio", **about): stays((0.5, minutes)),
             series("topdownd_recording_up", **about): stays((1, minutes)),
             series("topdownd_recording_rounds_lost_total", **about): grows((0, minutes)),
             series("topdownd_config_last_reload_successful", **about): stays((1, minutes))}
    return (found | level1(about, (LEVEL1, SLOTS, minutes)) | times(about, ({}, minutes)) |
            ratio(about, "ipc", "retired", (2e9, 1e9, minutes)) | ratio(about, "ll_cache_mpki", "reads", (2e6, 2e9, minutes)) |
            bound(about, "none", "none", minutes))


def about(instance="web-1", role="web"):
    return {"job": "topdownd", "instance": instance, "role": role}


def changed(name, values, instance="web-1", role="web", **labels):
    return {series(name, **about(instance, role), **labels): values}


def check_alert(changes, before, after, expected, minutes=120, **settings):
    """Nothing fires at minute `before`; at `after`, exactly `expected`."""
    early, late = Rules(host(minutes=minutes) | changes, **settings).firing(before, after)
    assert early == set(), early
    assert late == expected, late


# ---- files ----

def test_promtool_accepts_the_configuration_and_the_rules():
    status, said = promtool.run("check", "config", os.path.join(promtool.FOLDER, "prometheus.yml"))
    assert status == 0 and "WARNING" not in said, said
    status, said = promtool.run("check", "rules", *promtool.files())
    assert status == 0, said
    return f"{len(re.findall('SUCCESS', said))} files of rules"


def names_of(text):
    """Names of series in PromQL."""
    text = re.sub(r'"[^"]*"|\{[^}]*\}|\b(?:by|without|on|ignoring|group_left)\s*\([^)]*\)|\[[^]]*\]|\b1w\b', " ", re.sub(r"#.*", "", text))
    words = re.findall(r"[a-z_][\w:]*(?!\s*\(|\w)", text)
    return set(words) - {"and", "or", "unless", "on", "by", "without", "ignoring", "bool", "offset", "group_left"}


def expressions():
    found = []
    for path in promtool.files():
        text = e2e.read_text(path)
        found += re.findall(r"^ +expr: (?!\|)(.*)$", text, re.M)
        found += re.findall(r"^ +expr: \|\n((?:          +.*\n)+)", text, re.M)
    return found


def test_every_name_in_a_rule_is_documented_or_recorded_by_a_rule():
    text = "".join(map(e2e.read_text, promtool.files()))
    documented = e2e.read_text(os.path.join(ROOT, "docs/metrics.md"))
    recorded = re.findall(r"^ +- record: (\S+)", text, re.M)
    assert len(recorded) == len(set(recorded)), "a name is recorded twice"
    rules = re.findall(r"^ +- (?:record|alert): ", text, re.M)
    assert len(expressions()) == len(rules), (len(expressions()), len(rules))
    used = set().union(*map(names_of, expressions()))
    assert len(used) > 30, used
    for name in used - set(recorded) - {"up"}:
        metric = name.removeprefix("topdownd_")
        assert f"`{name}`" in documented or metric.endswith("_ratio") and metric[:-6] in CATEGORIES, f"{name} is not in docs/metrics.md"
    for name in recorded:
        assert re.fullmatch(r"\w+:topdownd_\w+:\w+", name), name
    return f"{len(used)} names, {len(recorded)} recorded"


def test_every_alert_has_a_severity_and_says_what_it_is_and_what_to_do():
    alerts = re.split(r"^ +- alert: ", "".join(map(e2e.read_text, promtool.files())), flags=re.M)[1:]
    assert len(alerts) >= 16
    runbook = e2e.read_text(os.path.join(ROOT, "docs/fleet.md"))
    for text in alerts:
        name = text.split("\n", 1)[0]
        assert name.startswith("Topdownd"), name
        for part in (r"for: \d+[mh]\n", r"severity: (?:info|warning)\b", r"summary: '", r"description: >-\n",
                     rf"runbook_url: docs/fleet\.md#{name.lower()}\n"):
            assert re.search(part, text), (name, part)
        assert f"\n### {name}\n" in runbook, f"docs/fleet.md has no section for {name}"
    return f"{len(alerts)} alerts"


# ---- recording rules ----

def test_what_is_recorded_of_a_role_is_a_sum_over_a_sum():
    """A busy host without and an idle one with misses: the mean of their ratios would be 27.5 MPKI and a share of 0.5."""
    busy, idle = about("web-1"), about("web-2")
    loaded = host("web-1") | host("web-2")
    loaded |= level1(busy, ({**dict.fromkeys(CATEGORIES, 0), "retiring": 1}, 9e8, 120))
    loaded |= level1(idle, ({**dict.fromkeys(CATEGORIES, 0), "backend_bound": 1}, 1e8, 120))
    loaded |= ratio(busy, "ll_cache_mpki", "reads", (5e6, 1e9, 120)) | ratio(idle, "ll_cache_mpki", "reads", (5e6, 1e8, 120))
    role = 'role_model_category:topdownd_pipeline_slots:share5m{role="web"}'
    shares, mpki, ipc, capacity, headroom, fleet = Rules(loaded).ask([
        (f"round({role}, 0.0001)", 60), ("round(role_model_metric:topdownd_mpki:ratio5m, 0.0001)", 60),
        ("role_model:topdownd_ipc:ratio5m", 60), ("round(role_model:topdownd_effective_capacity:ratio5m, 0.0001)", 60),
        ("round(role_model:topdownd_headroom:ratio5m, 0.0001)", 60),
        ('round(job_category:topdownd_pipeline_slots:share5m{category="backend_bound"}, 0.0001)', 60)])
    assert {labels["category"]: value for labels, value in shares} == {
        "frontend_bound": 0, "bad_speculation": 0, "retiring": 0.9, "backend_bound": 0.1}, shares
    assert all({"job": "topdownd", "role": "web", **N1}.items() <= labels.items() for labels, _ in shares), shares
    assert [(labels["metric"], labels["definition"], value) for labels, value in mpki] == [("ll_cache_mpki", "reads", 9.0909)], mpki
    assert [value for _, value in ipc] == [2], ipc
    assert [value for _, value in capacity] == [0.225], capacity  # 9e8 of two peaks of 2e9
    assert [value for _, value in headroom] == [0.75], headroom
    assert [value for _, value in fleet] == [0.1], fleet


def test_what_an_action_could_win_is_a_share_of_the_slots_of_the_hosts_that_measure_it():
    """Three hosts of a role: a busy one that could win a tenth, an idle one that could win half, and one that does not measure it."""
    loaded = host("web-1") | host("web-2") | host("web-3")
    for instance, slots, won in (("web-1", 9e8, 9e7), ("web-2", 1e8, 5e7), ("web-3", 5e8, None)):
        loaded |= level1(about(instance), ({**dict.fromkeys(CATEGORIES, 0), "retiring": 1}, slots, 120))
        if won:
            loaded |= changed("topdownd_opportunity_pipeline_slots_total", grows((won, 120)), instance, socket=0, action="locks")
    share, hosts, error, each = Rules(loaded).ask([
        ("round(role_model_action:topdownd_opportunity:share5m, 0.0001)", 60), ("role_model_action:topdownd_opportunity:hosts5m", 60),
        ("round(role_model_action:topdownd_opportunity:error5m, 0.0001)", 60), ("round(instance_action:topdownd_opportunity:share5m, 0.0001)", 60)])
    assert [(labels["role"], labels["action"], value) for labels, value in share] == [("web", "locks", 0.14)], share  # 14e7 of 1e9
    assert [value for _, value in hosts] == [2], hosts
    assert [value for _, value in error] == [0.2772], error  # 1.96 * 0.2 / sqrt(2)
    assert {labels["instance"]: value for labels, value in each} == {"web-1": 0.1, "web-2": 0.5}, each


def test_roles_models_definitions_and_core_types_are_kept_apart():
    other = {"model": "Neoverse V2", "microarchitecture": "neoverse-v2", "spec": "neoverse-v2"}
    loaded = host("web-1") | host("web-2", info=other) | host("db-1", "database")
    loaded = {name.replace('"reads"', '"l3_refills"') if "web-2" in name else name: values for name, values in loaded.items()}
    for name, values in host("hybrid-1").items():
        loaded[name.replace("{", '{core_type="big",', 1)] = values
        loaded[name.replace("{", '{core_type="little",', 1)] = values
    groups, mpki = Rules(loaded).ask([("role_model:topdownd_ipc:ratio5m", 60), ("role_model_metric:topdownd_mpki:ratio5m", 60)])
    assert sorted((labels["role"], labels["model"], labels.get("core_type")) for labels, _ in groups if "core_type" not in labels) == [
        ("database", "Neoverse N1", None), ("web", "Neoverse N1", None), ("web", "Neoverse V2", None)], groups
    assert sorted(labels["core_type"] for labels, _ in groups if "core_type" in labels) == ["big", "little"], groups
    assert {(labels["model"], labels["definition"]) for labels, _ in mpki} == {("Neoverse N1", "reads"), ("Neoverse V2", "l3_refills")}


def test_time_that_nothing_covers_is_not_room_for_more():
    """Half of the time is uncovered, so half of the slots are counted: capacity and headroom stay what they were."""
    loaded = host() | times(about(), ({"failed": 0.5}, 120)) | level1(about(), (LEVEL1, SLOTS / 2, 120))
    covered, capacity, headroom = Rules(loaded).ask([(f"round(instance:topdownd_{name}:ratio5m, 0.0001)", 60)
                                                    for name in ("covered_cpu", "effective_capacity", "headroom")])
    assert [value for _, value in covered + capacity + headroom] == [0.5, 0.25, 0.5], (covered, capacity, headroom)


def test_a_host_has_the_headroom_that_it_has_from_the_first_minute_on():
    """Two minutes of scrapes are less than the five of a rate: what is compared with one shrinks as it does."""
    loaded = host() | memory("web-1", 0, peak=1e9, read=4e8, write=1e8)
    names = ("instance:topdownd_headroom", "role_model:topdownd_headroom", "instance:topdownd_effective_capacity", "instance_socket:topdownd_memory_utilization")
    for minute, scraped in ((2, True), (60, False)):
        *found, rate, share = Rules(loaded).ask([(f"round({name}:ratio5m, 0.0001)", minute) for name in names] + [
            ("sum(instance_category:topdownd_pipeline_slots:rate5m)", minute), ("round(instance:topdownd_scraped:ratio5m, 0.01)", minute)])
        assert [[value for _, value in each] for each in found] == [[0.5], [0.5], [0.25], [0.5]], (minute, found)
        assert (rate[0][1] < 0.6 * SLOTS) == scraped == (share[0][1] < 0.6), (minute, rate, share)


def memory(instance, socket, peak=None, kind="dram", **rates):
    """The bytes of a socket's memory by direction, so many a second, and its peak where that is known."""
    found = {series("topdownd_memory_bytes_total", **about(instance), socket=socket, direction=direction, kind=kind): grows((rate, 120))
             for direction, rate in rates.items()}
    if peak is not None:
        found[series("topdownd_memory_peak_bytes_per_second", **about(instance), socket=socket)] = stays((peak, 121))
    return found


def test_memory_is_recorded_by_socket_kind_and_direction_and_the_share_of_the_peak_that_dram_moves():
    """One socket of web-1 is near its peak and one far from it; web-2 does not know its peak; web-3 does not tell directions apart,
    and has CXL memory, which moves more than the peak of its DRAM. The peak of web-4 cannot be, nor that of one socket of web-5."""
    loaded = memory("web-1", 0, 300e9, read=180e9, write=60e9) | memory("web-1", 1, 300e9, read=20e9, write=10e9)
    loaded |= memory("web-2", 0, read=9e9, write=1e9) | memory("web-3", 0, 200e9, all=50e9) | memory("web-3", 0, kind="cxl", read=300e9)
    loaded |= memory("web-4", 0, 100e9, read=220e9) | memory("web-5", 0, 100e9, read=220e9) | memory("web-5", 1, 300e9, read=10e9, write=20e9)
    rates, shares, short = Rules(loaded).ask([(promql, 60) for promql in (
        "round(instance_socket_kind_direction:topdownd_memory_bytes:rate5m)", "round(instance_socket:topdownd_memory_utilization:ratio5m, 0.0001)",
        short_of_bandwidth())])
    assert {(labels["instance"], labels["socket"], labels["direction"]): value for labels, value in rates if labels["kind"] == "dram"} == {
        ("web-1", "0", "read"): 180e9, ("web-1", "0", "write"): 60e9, ("web-1", "1", "read"): 20e9, ("web-1", "1", "write"): 10e9,
        ("web-2", "0", "read"): 9e9, ("web-2", "0", "write"): 1e9, ("web-3", "0", "all"): 50e9,
        ("web-4", "0", "read"): 220e9, ("web-5", "0", "read"): 220e9, ("web-5", "1", "read"): 10e9, ("web-5", "1", "write"): 20e9}, rates
    assert [value for labels, value in rates if labels["kind"] == "cxl"] == [300e9], rates
    assert {(labels["instance"], labels["socket"]): value for labels, value in shares} == {
        ("web-1", "0"): 0.8, ("web-1", "1"): 0.1, ("web-3", "0"): 0.25, ("web-4", "0"): 2.2, ("web-5", "0"): 2.2, ("web-5", "1"): 0.1}, shares
    assert {labels["instance"]: value for labels, value in short} == {"web-1": 1, "web-3": 0, "web-5": 0}, short
    assert all(labels["role"] == "web" and labels["job"] == "topdownd" for labels, _ in rates + shares), (rates, shares)


def test_the_share_of_other_nodes_and_of_resctrl_are_recorded():
    """web-1 fetches a quarter from other nodes and resctrl sees 10 % less than its controllers; web-2 has one node, and only resctrl."""
    web = about("web-1") | {"socket": 0}
    loaded = memory("web-1", 0, read=80e9, write=20e9)
    loaded |= {series("topdownd_llc_miss_bytes_total", **web, home=home): grows((rate, 120)) for home, rate in (("local", 60e9), ("remote", 20e9))}
    loaded |= {series("topdownd_numa_allocations_total", **about("web-1"), home=home): grows((rate, 120))
               for home, rate in (("local", 9e5), ("remote", 1e5))}
    loaded |= {series("topdownd_resctrl_memory_bytes_total", **web, home=home): grows((rate, 120)) for home, rate in (("local", 70e9), ("remote", 20e9))}
    loaded |= {series("topdownd_resctrl_memory_bytes_total", **about("web-2"), socket=0, home="all"): grows((5e9, 120))}
    answers = Rules(loaded).ask([(f"round({name}, 0.0001)", 60) for name in (
        "instance_socket:topdownd_llc_miss_remote:ratio5m", "instance:topdownd_numa_remote_allocations:ratio5m",
        "instance_socket:topdownd_resctrl_difference:ratio5m")])
    assert [[(labels["instance"], value) for labels, value in answer] for answer in answers] == [
        [("web-1", 0.25)], [("web-1", 0.1)], [("web-1", -0.1)]], answers


def short_of_bandwidth():
    """The query of docs/fleet.md."""
    page = e2e.read_text(os.path.join(ROOT, "docs/fleet.md"))
    return re.search(r"short of memory bandwidth\?.*?```promql\n(.*?)\n```", page, re.S).group(1)


# ---- alerts for the service level ----

def test_a_fleet_without_trouble_has_no_alert():
    assert Rules(host() | host("web-2")).firing(30, 110) == [set(), set()]


def only(instance, minutes, **parts):
    """A host with no series but level 1 and IPC: what takes a week in promtool should be little."""
    found = {series("topdownd_cpu_info", **about(instance), **N1): stays((1, minutes + 1))}
    if "shares" in parts:
        found |= level1(about(instance), *parts["shares"])
    return found | (ratio(about(instance), "ipc", "retired", *parts["ipc"]) if "ipc" in parts else {})


def test_a_bottleneck_that_shifts_is_told_once_and_ends_when_it_has_become_normal():
    memory = {**LEVEL1, "retiring": 0.3, "backend_bound": 0.4}
    loaded = only("web-1", 3 * DAY, shares=(({**LEVEL1, "frontend_bound": 0.3, "backend_bound": 0.1}, SLOTS, DAY),
                                           (memory, SLOTS, 2 * DAY)))
    before, soon, shifted, normal = Rules(loaded, every="5m").firing(DAY - 5, DAY + 10, DAY + 60, 3 * DAY - 5)
    assert (before, soon, normal) == (set(), set(), set()), (before, soon, normal)
    assert shifted == {("TopdowndBottleneckShift", "web", "backend_bound")}, shifted


def test_another_category_that_is_barely_first_is_no_shift():
    nearly = {**LEVEL1, "frontend_bound": 0.22, "backend_bound": 0.18}
    loaded = only("web-1", DAY + 130, shares=((LEVEL1, SLOTS, DAY), (nearly, SLOTS, 130)))
    assert Rules(loaded, every="5m").firing(DAY + 60, DAY + 120) == [set(), set()]


def test_ipc_that_fell_within_a_week_is_told_of_the_same_hosts():
    loaded = only("web-1", WEEK + 310, ipc=((2e9, 1e9, WEEK), (1.8e9, 1e9, 310)))
    before, soon, later = Rules(loaded, every="5m").firing(WEEK - 10, WEEK + 30, WEEK + 300)
    assert (before, soon, later) == (set(), set(), {("TopdowndIpcRegression", "web")}), (before, soon, later)


def test_a_host_that_is_new_is_no_regression_and_4_percent_are_none():
    new = {name: f"_x{WEEK} {values}" for name, values in only("web-2", 310, ipc=((1e8, 1e9, 310),)).items()}
    loaded = only("web-1", WEEK + 310, ipc=((2e9, 1e9, WEEK), (1.92e9, 1e9, 310))) | new
    promql = ("round(role_model:topdownd_ipc:change1w, 0.001)", 'ALERTS{alertstate="firing"}')
    change, alerts = Rules(loaded, every="5m").ask([(asked, WEEK + 300) for asked in promql])
    assert [value for _, value in change] == [0.96] and not alerts, (change, alerts)


MEMORY = {**LEVEL1, "retiring": 0.2, "backend_bound": 0.5}


def test_a_host_whose_verdict_names_memory_is_told_after_half_an_hour():
    changes = level1(about(), (LEVEL1, SLOTS, 30), (MEMORY, SLOTS, 90)) | bound(
        about(), "backend_bound_ratio/backend_bound_memory_ratio", "backend_bound", 120)
    check_alert(changes, 55, 70, {("TopdowndMemoryBound", "web-1", "web", "backend_bound")})


def test_a_host_without_level_2_is_memory_bound_if_its_caches_miss():
    changes = level1(about(), (MEMORY, SLOTS, 120)) | bound(about(), "backend_bound_ratio", "backend_bound", 120)
    assert Rules(host() | changes).firing(70) == [set()]  # 1 MPKI
    changes |= ratio(about(), "ll_cache_mpki", "reads", (1e7, 2e9, 120))
    check_alert(changes, 25, 70, {("TopdowndMemoryBound", "web-1", "web", "backend_bound")})


def test_a_core_whose_buffers_are_full_is_memory_bound_if_its_caches_miss():
    changes = level1(about(), (MEMORY, SLOTS, 120)) | bound(
        about(), "backend_bound_ratio/tma_resource_bound_ratio/tma_reorder_buffer_ratio", "backend_bound", 120)
    assert Rules(host() | changes).firing(70) == [set()]  # 1 MPKI
    changes |= ratio(about(), "ll_cache_mpki", "reads", (1e7, 2e9, 120))
    check_alert(changes, 25, 70, {("TopdowndMemoryBound", "web-1", "web", "backend_bound")})


# What stands below the back end on the CPUs that there are specs for: memory, the core, and what may be either.
BELOW_BACKEND = {
    "memory": {"backend_bound_by_memory_ratio", "backend_bound_memory_ratio", "backend_mem_bound_stalls_ratio", "backend_mem_stalled_ratio",
               "backend_memory_clocks_ratio", "memory_bound_clocks_ratio", "stall_backend_cache_clocks_ratio", "stall_backend_tlb_clocks_ratio", "tma_memory_bound_ratio"},
    "core": {"backend_bound_by_cpu_ratio", "backend_bound_cpu_ratio", "backend_core_bound_stalls_ratio", "backend_core_ratio", "core_bound_clocks_ratio",
             "tma_core_bound_ratio"},
    "either": {"backend_busy_bound_stalls_ratio", "stall_backend_resource_clocks_ratio", "tma_resource_bound_ratio"}}


def below_backend():
    found = set()
    for path in glob.glob(os.path.join(ROOT, "specs/*.json")):
        spec = os.path.basename(path)[:-5]
        if spec != "cpus":
            listed = subprocess.run([BINARY, "list", "metrics", "--cpu", spec, "--json", "--path.data", ROOT], capture_output=True,
                                    text=True, timeout=e2e.TIMEOUT, check=True)
            found |= {metric["metric"] for metric in json.loads(listed.stdout) if metric["parent"] == "backend_bound_ratio"}
    return found


def test_the_names_of_memory_are_those_of_every_spec():
    assert below_backend() == set.union(*BELOW_BACKEND.values())
    memory, either = re.findall(r'topdownd_bound_info{path=~"(backend_.*?)"}', e2e.read_text(os.path.join(promtool.FOLDER, "topdownd.alerts.yml")))
    for kind, names in BELOW_BACKEND.items():
        for name in names:
            for path in (f"backend_bound_ratio/{name}", f"backend_bound_ratio/{name}/tma_memory_fence_clocks_ratio"):
                assert (re.fullmatch(memory, path) is not None, re.fullmatch(either, path) is not None) == (
                    kind == "memory", kind == "either"), (kind, path)
    assert re.fullmatch(either, "backend_bound_ratio") and not re.fullmatch(memory, "backend_bound_ratio")
    for page in ("docs/metrics.md", "docs/fleet.md"):
        assert f'path=~"{memory}"' in e2e.read_text(os.path.join(ROOT, page)), f"{page} has another pattern"


def test_a_host_that_waits_for_its_execution_units_is_not_memory_bound():
    changes = level1(about(), (MEMORY, SLOTS, 120)) | ratio(about(), "ll_cache_mpki", "reads", (1e7, 2e9, 120)) | bound(
        about(), "backend_bound_ratio/backend_bound_core_ratio", "backend_bound", 120)
    assert Rules(host() | changes).firing(70) == [set()]


def test_a_host_that_waits_for_code_is_told_after_half_an_hour():
    front = {**LEVEL1, "retiring": 0.3, "frontend_bound": 0.4}
    changes = level1(about(), (LEVEL1, SLOTS, 30), (front, SLOTS, 90)) | bound(about(), "frontend_bound_ratio", "frontend_bound", 120)
    check_alert(changes, 55, 70, {("TopdowndFrontendBound", "web-1", "web", "frontend_bound")})


def test_a_host_that_hardly_runs_has_nothing_to_fix():
    for category, about_it in (("frontend_bound", {}), ("backend_bound", ratio(about(), "ll_cache_mpki", "reads", (1e7, 2e9, 120)))):
        shares = {**LEVEL1, "retiring": 0.2, category: 0.5}
        changes = level1(about(), (shares, SLOTS, 120)) | bound(about(), f"{category}_ratio", category, 120) | about_it
        idle, busy = (ratio(about(), "utilization_ratio", "cnt_cycles", (4 * share, 4, 120)) for share in (0.05, 0.15))
        assert Rules(host() | changes | idle).firing(70) == [set()], category
        assert len(Rules(host() | changes | busy).firing(70)[0]) == 1, category
        # where no metric tells it, the kernel does
        idle, busy = ({series("topdownd_busy_cpu_seconds_total", **about(), socket=0): grows((4 * share, 120))} for share in (0.05, 0.15))
        assert Rules(host() | changes | idle).firing(70) == [set()], category
        assert len(Rules(host() | changes | busy).firing(70)[0]) == 1, category


def test_rules_and_program_call_the_same_hosts_idle():
    limits = re.findall(r"topdownd_utilization:ratio5m (?:<|>)=? ([0-9.]+)", "".join(e2e.read_text(os.path.join(promtool.FOLDER, f"topdownd.{name}.yml")) for name in ("rules", "alerts", "outliers")))
    [own] = re.findall(r"^#define AROUND_IDLE ([0-9.]+)$", e2e.read_text(os.path.join(ROOT, "core/diagnosis/around.h")), re.M)
    assert limits == [own], "the limit stands once in the rules, and is the program's"
    for name in ("alerts", "outliers"):
        for expr in re.findall(r"- alert: (Topdownd(?:MemoryBound|FrontendBound|IpcOutlier|Level1Outlier))\n(.*?)\n        for:", e2e.read_text(os.path.join(promtool.FOLDER, f"topdownd.{name}.yml")), re.S):
            assert "unless on (job, instance, core_type) instance:topdownd_idle:utilization5m" in expr[1], expr[0]


def test_a_minute_without_the_bottleneck_begins_the_half_hour_anew():
    front = {**LEVEL1, "retiring": 0.3, "frontend_bound": 0.4}
    changes = level1(about(), (front, SLOTS, 25), (LEVEL1, SLOTS, 10), (front, SLOTS, 85)) | bound(
        about(), "frontend_bound_ratio", "frontend_bound", 120)
    check_alert(changes, 60, 75, {("TopdowndFrontendBound", "web-1", "web", "frontend_bound")})


# ---- outliers: e2e/test_outliers.py has a fleet of 1,000 ----

KIND_SHARES = {**LEVEL1, "retiring": 0.45, "backend_bound": 0.25}


def kind(n, ipc_of_one=2e9, backend_of_one=0.25, error=0.02, of_one=None, minutes=80):
    """`n` hosts that differ by 1 % from one to the next, and one, web-0, that may differ more. `of_one`: labels that it has."""
    found = {}
    for i in range(n):
        instance, drift = f"web-{i}", 1 + 0.01 * (i % 3 - 1)
        backend = 0.25 * drift if i > 0 else backend_of_one
        shares = {**KIND_SHARES, "backend_bound": backend, "retiring": 0.7 - backend}
        one = only(instance, minutes, shares=((shares, SLOTS, minutes),),
                   ipc=((2e9 * drift if i > 0 else ipc_of_one, 1e9, minutes),))
        for name in ("topdownd_ipc_standard_error", "topdownd_level1_standard_error_ratio"):
            one[series(name, **about(instance))] = stays((error, minutes))
        for label, value in (of_one or {}).items() if i == 0 else ():
            one = {re.sub(rf'{label}="[^"]*"', f'{label}="{value}"', name): values for name, values in one.items()}
        found |= one
    return found


SLOW, WAITING = {"ipc_of_one": 1.6e9}, {"backend_of_one": 0.4}


def test_a_host_that_is_slower_than_its_kind_is_told():
    assert Rules(kind(12, **SLOW)).firing(5, 70) == [set(), {("TopdowndIpcOutlier", "web-0", "web")}]
    assert Rules(kind(12, ipc_of_one=2.6e9)).firing(70) == [set()]  # faster
    assert Rules(kind(12, ipc_of_one=1.92e9)).firing(70) == [set()]  # by 4 %


def test_a_host_that_waits_more_than_its_kind_is_told_with_the_category():
    assert Rules(kind(12, **WAITING)).firing(70) == [{("TopdowndLevel1Outlier", "web-0", "web", "backend_bound")}]
    assert Rules(kind(12, backend_of_one=0.1)).firing(70) == [set()]  # less
    assert Rules(kind(12, backend_of_one=0.29)).firing(70) == [set()]  # by 4 points


def test_a_host_whose_interval_reaches_the_others_is_not_told():
    assert Rules(kind(12, error=0.9, **SLOW)).firing(70) == [set()]
    assert Rules(kind(12, error=0.3, **WAITING)).firing(70) == [set()]


def test_nine_hosts_are_too_few_to_compare():
    assert Rules(kind(9, **SLOW, **WAITING)).firing(70) == [set()]
    assert len(Rules(kind(10, **SLOW, **WAITING)).firing(70)[0]) == 2


def test_hosts_of_another_role_model_or_definition_are_not_compared():
    for label, value in (("role", "database"), ("model", "Neoverse V2"), ("definition", "kernel_event")):
        found, = Rules(kind(13, **SLOW, of_one={label: value})).firing(70)
        assert found == set(), (label, found)


def test_a_host_that_says_nothing_of_its_error_is_not_judged():
    loaded = {name: values for name, values in kind(12, **SLOW, **WAITING).items() if "standard_error" not in name or "web-0" not in name}
    assert Rules(loaded).firing(70) == [set()]


def test_a_kind_without_any_spread_has_no_outliers_by_a_hair():
    loaded = {}
    for i in range(12):
        loaded |= only(f"web-{i}", 80, ipc=((2e9 if i else 1.98e9, 1e9, 80),))
        loaded[series("topdownd_ipc_standard_error", **about(f"web-{i}"))] = stays((0.001, 80))
    spread, = Rules(loaded).ask([("round(role_model:topdownd_ipc:quartiles30m, 0.0001)", 70)])
    assert [value for _, value in spread] == [0.02], spread
    assert Rules(loaded).firing(70) == [set()]


# ---- alerts for the data ----

def test_a_daemon_that_does_not_answer_is_told():
    check_alert(changed("up", stays((1, 30), (0, 90))), 34, 40, {("TopdowndDown", "web-1", "web")})


def blind(reason=None, lost=None, error="armv8_pmuv3_0", minutes=120):
    changes = changed("topdownd_pmu_up", stays((1, 30), (0, minutes - 30)), pmu="armv8_pmuv3_0")
    changes |= times(about(), ({}, 30), (lost or {}, minutes - 30)) | level1(about(), (LEVEL1, SLOTS, 30), (LEVEL1, 0, minutes - 30))
    changes |= changed("topdownd_last_snapshot_timestamp_seconds", f"0+60x29 {stays((1740, minutes - 30))}")
    if reason:
        changes |= changed("topdownd_pmu_error", stays((None, 30), (1, minutes - 30)), pmu=error, reason=reason)
    return changes


def test_a_blind_host_is_told_with_the_reason_of_its_pmu_and_by_one_alert():
    check_alert(blind("not_allowed", {"failed": 1}), 32, 80, {("TopdowndBlind", "web-1", "web", "not_allowed")})


def test_a_blind_host_without_an_error_is_told_with_what_it_lost_its_time_to():
    check_alert(blind(lost={"starved": 0.9, "failed": 0.1}), 32, 80, {("TopdowndBlind", "web-1", "web", "starved")})


def test_what_is_wrong_with_another_pmu_is_not_the_reason():
    check_alert(blind("not_in_specs", {"failed": 1}, error="cpu"), 32, 80, {("TopdowndBlind", "web-1", "web", "failed")})


def says(reason):
    """After half an hour, in which a part did not count, the daemon says that it is not ready."""
    return changed("topdownd_not_ready", stays((0, 30), (1, 90)), reason=reason)


def test_what_the_daemon_says_of_itself_is_told_by_one_alert():
    check_alert(says("filtered"), 32, 80, {("TopdowndBlind", "web-1", "web", "filtered")})
    check_alert(says("starved") | blind("busy", {"starved": 1}), 32, 80, {("TopdowndBlind", "web-1", "web", "starved")})
    check_alert(says("stale") | blind("busy"), 31, 80, {("TopdowndSnapshotStale", "web-1", "web")})


def test_a_core_type_that_is_blind_is_told_beside_one_that_is_not():
    loaded = {name.replace("{", '{core_type="little",', 1): values for name, values in host().items()}
    loaded |= {name.replace("{", '{core_type="big",', 1): values for name, values in (host() | blind("busy", {"failed": 1})).items()}
    found, = Rules(loaded).ask([('ALERTS{alertstate="firing"}', 80)])
    assert [(labels["alertname"], labels["core_type"], labels["reason"]) for labels, _ in found] == [("TopdowndBlind", "big", "busy")], found


def test_counters_that_were_handed_over_are_not_missed_at_once_but_after_half_an_hour():
    changes = blind(lost={"yielded": 1}) | changed("topdownd_last_snapshot_timestamp_seconds", "0+60x120")
    check_alert(changes, 55, 80, {("TopdowndCoverageLost", "web-1", "web", "yielded")})


def test_a_host_with_software_events_alone_is_told_as_such():
    changes = changed("topdownd_pmu_error", stays((1, 120)), pmu="cpu", reason="absent") | changed(
        "topdownd_pmu_up", stays((1, 120)), pmu="software")
    check_alert(changes, 55, 80, {("TopdowndNoHardwareCounters", "web-1", "web", "absent")})


def test_a_daemon_that_answers_and_measures_nothing_is_told():
    check_alert(blind(), 33, 40, {("TopdowndSnapshotStale", "web-1", "web")})


def test_an_interval_of_a_minute_is_not_stale():
    snapshots = " ".join(str(60 * (minute // 2 * 2)) for minute in range(120))
    assert Rules(host() | changed("topdownd_last_snapshot_timestamp_seconds", snapshots)).firing(60, 61) == [set(), set()]


def test_lost_coverage_is_told_with_its_reason():
    check_alert(times(about(), ({}, 30), ({"not_plannable": 0.2, "stalled": 0.05}, 90)), 55, 80,
                {("TopdowndCoverageLost", "web-1", "web", "not_plannable")})


def test_cpus_that_are_offline_are_no_lost_coverage():
    assert Rules(host() | times(about(), ({"offline": 0.5}, 120))).firing(80) == [set()]


STOLEN = {("TopdowndCountersStolen", "web-1", "web")}


def test_counters_that_others_hold_are_told_if_time_is_lost():
    check_alert(times(about(), ({}, 30), ({"starved": 0.2}, 90)), 55, 80,
                {("TopdowndCountersStolen", "web-1", "web", "starved")})


def test_counters_that_others_hold_are_told_if_groups_share_them():
    check_alert(changed("topdownd_event_group_running_seconds_total", grows((1, 30), (0.7, 90)), event_group="stage_1"), 55, 80, STOLEN)


def test_counters_that_others_hold_are_told_if_fewer_can_be_had():
    check_alert(changed("topdownd_pmu_counters", stays((7, 30), (5, 90)), pmu="armv8_pmuv3_0", state="usable"), 55, 80, STOLEN)


def test_a_profiler_of_ten_minutes_is_no_theft():
    usable = stays((7, 30), (5, 10), (7, 80))
    assert Rules(host() | changed("topdownd_pmu_counters", usable, pmu="armv8_pmuv3_0", state="usable")).firing(39, 80) == [set(), set()]


def test_what_takes_more_than_its_budget_is_told():
    check_alert(changed("topdownd_budget_used_ratio", stays((0.9, 30), (1.4, 90))), 40, 50, {("TopdowndOverBudget", "web-1", "web")})


def test_a_recording_that_cannot_be_written_is_told():
    changes = changed("topdownd_recording_up", stays((1, 30), (0, 90))) | changed(
        "topdownd_recording_rounds_lost_total", grows((0, 30), (0.5, 90)))
    check_alert(changes, 33, 80, {("TopdowndRecordingFails", "web-1", "web")})


def test_a_recording_that_lost_rounds_is_told_for_an_hour():
    changes = changed("topdownd_recording_rounds_lost_total", grows((0, 30), (0.5, 5), (0, 85)))
    check_alert(changes, 30, 50, {("TopdowndRecordingLosesRounds", "web-1", "web")})
    assert Rules(host() | changes).firing(105) == [set()]


def test_a_reload_that_failed_is_told():
    check_alert(changed("topdownd_config_last_reload_successful", stays((1, 30), (0, 90))), 33, 40,
                {("TopdowndReloadFailed", "web-1", "web")})


def test_a_certificate_that_expires_within_two_weeks_is_told_an_hour_later():
    # promtool's time begins at 0, so that the certificate has 14 days left after 30 minutes
    check_alert(changed("topdownd_tls_certificate_expiry_timestamp_seconds", stays((14 * 86400 + 1800, 120))), 85, 95,
                {("TopdowndCertificateExpires", "web-1", "web")})


# ---- an upgrade ----

MEMORY_PATH = "backend_bound_ratio/tma_memory_bound_ratio"


def upgraded(instance, since, at, minutes=120):
    """A host whose daemon is away at one minute: then counters begin anew, the first page has no verdict, and the verdict is at least as old."""
    ours, found = about(instance), {}
    before, after = host(instance, minutes=at - 1), host(instance, minutes=minutes - at - 2)
    for name, values in before.items():
        shown, began = "0" if name.startswith("up{") else "stale", after[name]
        if name.startswith("topdownd_last_snapshot"):
            began = f"{60 * (at + 1)}+60x{minutes - at - 2}"
        found[name] = f"{values}{' _' * (at - promtool.length(values))} {shown} {began}"
    found.pop(next(name for name in found if name.startswith("topdownd_bound_info")))
    verdict = {"topdownd_bound_info": (1, {"path": MEMORY_PATH, "category": "backend_bound"}), "topdownd_bound_since_timestamp_seconds": (since, {})}
    for name, (value, labels) in verdict.items():
        found[series(name, **ours, socket=0, **labels)] = f"{stays((value, at))} stale _ {stays((value, minutes - at - 2))}"
    found[series("topdownd_bound_since_unseen", **ours, socket=0)] = stays((None, at + 2), (1, minutes - at - 2))
    found[series("topdownd_not_ready", **ours, reason="starting")] = f"{stays((None, at + 1), (1, 1))} stale"
    return found


def test_an_upgrade_of_the_fleet_is_no_alert_and_sets_no_bottleneck_back():
    """Five hosts of a role, one every two minutes, scraped once a minute: what is gone is stale at once. e2e/test_upgrade.py has real restarts."""
    since, loaded = {f"web-{i}": 60.0 * i + 7 for i in range(1, 6)}, {}
    for i, (instance, moment) in enumerate(since.items()):
        loaded |= upgraded(instance, moment, 60 + 2 * i)
    longest, just = promtool.documented(promtool.LONGEST_BOUND), promtool.documented(promtool.JUST_BOUND)
    rules, minutes = Rules(loaded), (59, 61, 63, 70, 75, 100)
    answers = rules.ask([(longest, minute) for minute in minutes] + [(just, minute) for minute in (70, 75)])
    away = {61: "web-1", 63: "web-2"}  # it answers, and has no verdict yet
    for minute, answer in zip(minutes, answers):
        expected = {instance: 60 * minute - moment for instance, moment in since.items() if instance != away.get(minute)}
        assert {labels["instance"]: value for labels, value in answer} == expected, (minute, answer, expected)
        assert all(labels["path"] == MEMORY_PATH and labels["role"] == "web" for labels, _ in answer), answer
    assert answers[len(minutes):] == [[], []], "none of them just began"
    assert rules.firing(*range(59, 80, 3), 100, 119) == [set()] * 9


if __name__ == "__main__":
    promtool.need()
    e2e.run_tests()
