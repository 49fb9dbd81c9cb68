# SPDX-License-Identifier: Apache-2.0
"""The dashboard of one host: what it is bound by and since when, how fast it runs, what it misses, and how far to trust that.

It asks for the raw counters: one host has few, so it works without recording rules and at any resolution.
"""

import panels

UID = "topdownd-host"
HOST = 'instance="$host",core_type=~"$core_type"'
WHOLE_HOST = 'instance="$host"'  # of families that never have a core type
PAGE = panels.link("The page of this host", "${scheme}://${host}/")


def rate(family, labels="", whole=False):
    return f"rate({family}{{{WHOLE_HOST if whole else HOST}{',' + labels if labels else ''}}}[$__rate_interval])"


def quotient(metric, factor=""):
    """A metric k A/B of the host: sums first, then the quotient."""
    label = f'metric="{metric}"'
    return (f"{factor}sum(" + rate("topdownd_metric_numerator_total", label) + ") / sum("
            + rate("topdownd_metric_denominator_total", label) + ")")


def misses(metric, name):
    return quotient(metric, "1000 * "), name


def variables():
    return [
        panels.data_source(),
        panels.any_of("role", "Role", "label_values(topdownd_build_info, role)", "The label role of the scrape configuration."),
        panels.any_of("model", "CPU model", 'label_values(topdownd_cpu_info{role=~"$role"}, microarchitecture)', "The microarchitecture."),
        panels.variable("host", "Host", 'label_values(topdownd_cpu_info{role=~"$role",microarchitecture=~"$model"}, instance)',
                        "The label instance: address and port that Prometheus scrapes."),
        panels.any_of("core_type", "Core type", 'label_values(topdownd_cpu_info{instance="$host"}, core_type)',
                      "Hosts with several core types only. Choose one: pipeline slots of different cores do not compare."),
        panels.choice("scheme", "Page by", "How the link to the host's page begins.", ["http", "https"]),
    ]


def verdict():
    bound = f"topdownd_bound_info{{{HOST}}}"
    return [
        panels.row("What is it bound by, and since when?"),
        panels.table("Bound by", "What each socket is bound by: the nodes of the methodology's tree that are high, from the root. `next` says which "
                     "metric groups or metrics tell more: add groups to the host's profile. `none`: nothing is known to be high.", "none",
                     [(bound, "")], (16, 5), hide=("Value", "instance", "role"), names={"path": "bound by", "next": "look at next"}),
        panels.number("For", "How long the answer of the socket that has had its answer for the shortest time has stood.", "s",
                      [(f"time() - max(topdownd_bound_since_timestamp_seconds{{{HOST}}})", "")], (4, 5), links=[PAGE]),
        panels.number("Certain", "1: the 95 % intervals leave the answer of every socket as it is. 0: the answer may be another one for at least one socket.",
                      "short", [(f"min(topdownd_bound_certain{{{HOST}}})", "")], (4, 5)),
    ]


def level1():
    slots = "topdownd_pipeline_slots_total"
    sockets = f"sum by (socket) ({rate(slots)})"
    return [
        panels.stack("Level 1 of the host", "Where the pipeline slots of the host go. The four parts add up to 100 %. A part that grows says "
                     "when the load or its bottleneck changed.", "percentunit",
                     [(f"sum by (category) ({rate(slots)}) / scalar(sum({rate(slots)}))", "{{category}}")], field={"max": 1}),
        panels.lines("Back-end bound by socket", "Share of the slots that waited for data or execution units, for each socket. Sockets that differ have "
                     "different loads, or memory on the wrong node.", "percentunit",
                     [(f"sum by (socket) ({rate(slots, 'category=%cbackend_bound%c' % (34, 34))}) / {sockets}", "socket {{socket}}")], (6, 9)),
        panels.lines("Front-end bound by socket", "Share of the slots that waited for instructions, for each socket.", "percentunit",
                     [(f"sum by (socket) ({rate(slots, 'category=%cfrontend_bound%c' % (34, 34))}) / {sockets}", "socket {{socket}}")], (6, 9)),
    ]


def speed():
    retiring = rate("topdownd_pipeline_slots_total", 'category="retiring"')
    every = rate("topdownd_pipeline_slots_total")
    peak = f"sum(topdownd_peak_pipeline_slots_per_second{{{HOST}}})"
    return [
        panels.row("Speed and capacity"),
        panels.lines("Instructions per cycle", "Retired instructions per cycle in which a hardware thread was awake. Compare it with the same host and load "
                     "at another time; it is no measure of useful work between programs.", "short", [(quotient("ipc"), "IPC")]),
        panels.lines("Used capacity", "`useful` is retiring over peak: the share of all that the cores could do at their highest frequency that became useful "
                     "work. `awake` counts all slots of cores that were awake. The gap between them is what the bottlenecks cost; the gap from `awake` "
                     "to 100 % is sleep and lower frequency.", "percentunit",
                     [(f"sum({retiring}) / {peak}", "useful"), (f"sum({every}) / {peak}", "awake")], field={"min": 0, "max": 1}),
        panels.lines("Frequency", "Clock cycles per second of the time awake, mean over the CPUs weighted by their time awake. Below the usual value: "
                     "power or thermal limits, wide vectors, or a governor.", "hertz", [(quotient("frequency_hertz"), "frequency")]),
    ]


def memory():
    moved, peak = "topdownd_memory_bytes_total", f"topdownd_memory_peak_bytes_per_second{{{WHOLE_HOST}}}"
    dram = rate(moved, 'kind="dram"', whole=True)
    return [
        panels.row("Memory"),
        panels.lines("Memory bandwidth", "Bytes a second that each socket reads from and writes to its memory, by its kind: DRAM, HBM, persistent memory, CXL. "
                     "Empty where topdownd measures no memory controllers.", "Bps",
                     [(f"sum by (socket, kind, direction) ({rate(moved, whole=True)})", "socket {{socket}} {{kind}} {{direction}}")], (12, 8), {"min": 0}),
        panels.lines("Share of the memory's peak", "Bytes a second of DRAM over the most that it can move. Above 0.7 a socket that is bound by "
                     "memory is short of bandwidth; below 0.4 it waits for latency. Empty where the peak is not known (topdownd-memory(8)).",
                     "percentunit", [(f"sum by (socket) ({dram}) / sum by (socket) ({peak})", "socket {{socket}}")], (12, 8),
                     {"min": 0, "max": 1}),
        panels.lines("Memory of other nodes", "What crosses sockets or NUMA nodes: of the bytes that last-level caches missed (where a PMU tells; on AMD and "
                     "Arm of what the socket fetched, on Intel of what was requested of its memory), and of all allocations of memory. `resctrl` is how far "
                     "its bytes are from those of the memory controllers, where it is mounted. Empty on hosts with one node.", "percentunit",
                     [(f"sum by (socket) ({of_home('topdownd_llc_miss_bytes_total', remote=True)}) / sum by (socket) "
                       f"({of_home('topdownd_llc_miss_bytes_total')})", "misses, socket {{socket}}"),
                      (f"sum({of_home('topdownd_numa_allocations_total', remote=True)}) / sum({of_home('topdownd_numa_allocations_total')})",
                       "allocations"),
                      (f"sum by (socket) ({of_home('topdownd_resctrl_memory_bytes_total')}) / sum by (socket) ({rate(moved, whole=True)}) - 1",
                       "resctrl, socket {{socket}}")], (24, 8)),
        panels.lines("Devices", "Bytes a second that devices write into the memory of a socket (`in`) and read from it (`out`), over PCIe or a link to another "
                     "chip. Empty unless topdownd measures them (`uncore.groups` with `io`).", "Bps",
                     [(f"sum by (socket, kind, direction) ({rate('topdownd_io_bytes_total', whole=True)})",
                       "socket {{socket}} {{kind}} {{direction}}")], (12, 8), {"min": 0}),
        panels.lines("Moved between tiers", "Memory a second that the kernel moves to a faster tier (promoted) and to a slower one (demoted), such as DRAM and CXL. "
                     "Much of both: what is used does not fit into the fast one. Empty on hosts with one kind of memory.", "Bps",
                     [(f"sum by (direction) ({rate('topdownd_memory_tier_moved_bytes_total', whole=True)})", "{{direction}}")], (12, 8), {"min": 0}),
    ]


def of_home(family, remote=False):
    return rate(family, 'home="remote"' if remote else "", whole=True)


def missed():
    return [
        panels.row("Misses"),
        panels.lines("Caches", "Misses per 1,000 instructions. Worth a look above: L1I 10, L1D 20, L2 10, last level 2. CPUs count different things under one name: "
                     "compare hosts only within one definition (docs/metrics.md).", "short",
                     [misses("l1i_cache_mpki", "L1I"), misses("l1d_cache_mpki", "L1D"), misses("l2_cache_mpki", "L2"),
                      misses("ll_cache_mpki", "last level")]),
        panels.lines("Branches and TLBs", "Mispredicted branches and page-table walks per 1,000 instructions. Worth a look above: branches 5, ITLB 1, DTLB 2.",
                     "short", [misses("branch_mpki", "branches"), misses("itlb_mpki", "ITLB"), misses("dtlb_mpki", "DTLB")]),
        panels.lines("Kernel events", "Context switches, migrations and page faults of the host per second. More than 100 major faults a second mean that "
                     "memory is short.", "ops",
                     [(f"sum({rate('topdownd_metric_numerator_total', 'metric=%c%s%c' % (34, metric, 34))})", name) for metric, name in
                      (("context_switches_per_second", "context switches"), ("task_migrations_per_second", "migrations"),
                       ("major_faults_per_second", "major faults"))]),
    ]


def trust():
    covered, uncovered = rate("topdownd_covered_cpu_seconds_total"), rate("topdownd_uncovered_cpu_seconds_total")
    return [
        panels.row("How far to trust it, and what it costs"),
        panels.lines("Coverage", "Share of the CPU time that the counters represent. 90 % may be all metrics for nine tenths of the time, or nine metrics of ten.",
                     "percentunit", [(f"sum({covered}) / sum(topdownd_cpus{{{HOST},state=\"measured\"}})", "covered")], field={"max": 1}),
        panels.lines("Not covered, by reason", "CPUs' worth of time that no estimate covers. starved: others held the counters; stalled: an event never counts; "
                     "not_plannable: too few counters; yielded: handed over on request; gap: topdownd did not run; failed; offline.", "short",
                     [(f"sum by (reason) ({uncovered})", "{{reason}}")]),
        panels.lines("Counters that others took", "Share of the time for which an event group was enabled and not on the counters: others, such as perf or the NMI "
                     "watchdog, held them.", "percentunit",
                     [(f"1 - sum by (event_group) ({rate('topdownd_event_group_running_seconds_total')}) / sum by (event_group) "
                       f"({rate('topdownd_event_group_enabled_seconds_total')})", "{{event_group}}")], field={"min": 0}),
        panels.lines("Share of the measuring budget", "Used share of the budget for measuring over the last 30 s. Above 0.9 topdownd makes slots longer.",
                     "percentunit", [(f"topdownd_budget_used_ratio{{{WHOLE_HOST}}}", "budget")], (6, 7), {"min": 0}),
        panels.lines("Cost of measuring", "CPU time of measuring as a share of the host, interruptions of other CPUs included; and all of topdownd's own "
                     "CPU time, with HTTP.", "percentunit",
                     [(f"sum({rate('topdownd_collection_seconds_total', whole=True)} + {rate('topdownd_interrupt_seconds_total', whole=True)}) "
                       f"/ sum(topdownd_cpus{{{WHOLE_HOST}}})", "measuring"),
                      (f"sum({rate('process_cpu_seconds_total', whole=True)}) / sum(topdownd_cpus{{{WHOLE_HOST}}})", "process")], (6, 7)),
        panels.number("Age of the counts", "Time since the newest snapshot with counts. Above some minutes nothing is measured.", "s",
                      [(f"time() - min(topdownd_last_snapshot_timestamp_seconds{{{HOST}}})", "")], (4, 7)),
        panels.table("Version, CPU and spec", "Which topdownd measures which CPU by which spec.", "none",
                     [(f"topdownd_build_info{{{WHOLE_HOST}}}", ""), (f"topdownd_cpu_info{{{HOST}}}", "")], (8, 7),
                     hide=("Value", "Value #A", "Value #B", "instance", "role")),
    ]


def dashboard():
    links = [panels.dashboard_link("Fleet", "/d/topdownd-fleet?var-datasource=${datasource}", "All hosts"),
             panels.dashboard_link("Page of this host", "${scheme}://${host}/", "The host's own page: tree, history, all CPUs", new_tab=True)]
    return panels.dashboard(UID, "topdownd: host", "What one host is bound by and since when. Its page shows the whole tree and each CPU.", variables(),
                            links, [*verdict(), *level1(), *speed(), *memory(), *missed(), *trust()], [panels.alerts('instance="$host"')])
