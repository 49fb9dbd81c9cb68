# SPDX-License-Identifier: Apache-2.0
"""The dashboard of the fleet, for whoever plans capacity or watches an SLA.

It asks for what packaging/prometheus/topdownd.rules.yml records, so that ten thousand hosts cost no more than a few thousand series
a query. Shares are quotients of summed rates: no panel takes a mean of ratios.
"""

import panels

UID = "topdownd-fleet"
GROUP = 'role=~"$role",microarchitecture=~"$model"'
HOSTS = GROUP + ',instance=~"$host"'
THESE = f"and on (instance) topdownd_cpu_info{{{HOSTS}}}"  # for series that say nothing of the CPU
DASHBOARD = panels.link("Dashboard of this host", "/d/topdownd-host?var-datasource=${datasource}&var-host=${__value.text}&${__url_time_range}",
                        same_tab=True)
PAGE = panels.link("Page of this host", "${scheme}://${__value.text}/")
ALERTING = 'role=~"$role",instance=~"$host|"'  # alerts of a role have no instance
HOST_LINKS = (DASHBOARD, PAGE)
LEGEND = "{{role}} {{microarchitecture}} {{core_type}}"
LABELS = ("Value", "microarchitecture", "spec", "core_type")


def variables():
    return [
        panels.data_source(),
        panels.any_of("role", "Role", "label_values(topdownd_build_info, role)", "The label role of the scrape configuration."),
        panels.any_of("model", "CPU model", 'label_values(topdownd_cpu_info{role=~"$role"}, microarchitecture)', "The microarchitecture."),
        panels.any_of("host", "Host", 'label_values(topdownd_cpu_info{role=~"$role",microarchitecture=~"$model"}, instance)',
                      "The label instance. It narrows tables and counts of hosts; figures of roles and models are always those of all their hosts."),
        panels.choice("scheme", "Pages by", "How links to the hosts' pages begin.", ["http", "https"]),
    ]


def state():
    slots = f"instance_category:topdownd_pipeline_slots:rate5m{{{HOSTS}"
    peak = f"instance:topdownd_peak_pipeline_slots:covered5m{{{HOSTS}}}"
    return [
        panels.row("State of the fleet"),
        panels.number("Hosts that measure", "Hosts whose PMU delivers counts.", "short", [(f"count((max by (instance) (topdownd_pmu_up) == 1) {THESE})", "")]),
        panels.number("Blind hosts", "Hosts that answer and measure nothing. The table below has the reasons.", "short",
                      [(f"count((max by (instance) (topdownd_pmu_up) == 0) {THESE}) or vector(0)", "")], steps=[(1, "orange")]),
        panels.number("Hosts that do not answer", "Targets that Prometheus could not scrape, of the chosen roles and of every CPU model.", "short",
                      [('count(up{job=~"topdownd.*",role=~"$role",instance=~"$host"} == 0) or vector(0)', "")], steps=[(1, "red")]),
        panels.number("Alerts that fire", "Firing alerts of topdownd's rules.", "short",
                      [(f'count(ALERTS{{alertname=~"Topdownd.*",alertstate="firing",{ALERTING}}}) or vector(0)', "")], steps=[(1, "orange")]),
        panels.number("Useful work", "Retiring over peak: the share of all that the chosen hosts' cores could do that became useful work.", "percentunit",
                      [(f'sum({slots},category="retiring"}} and on (job, instance, core_type) {peak}) / sum({peak})', "")]),
        panels.number("Headroom", "The share of the peak that no thread takes, because cores sleep or run below their maximum frequency.", "percentunit",
                      [(f"1 - sum({slots}}} and on (job, instance, core_type) {peak}) / sum({peak})", "")]),
        panels.table("Alerts", "Alerts that fire, of the chosen roles. docs/fleet.md has a section for each. Rows without a host are about a whole role.", "none",
                     [(f'ALERTS{{alertname=~"Topdownd.*",alertstate="firing",{ALERTING}}}', "")], (24, 6),
                     hide=("Value", "alertstate", "spec", "microarchitecture"), host_links=HOST_LINKS),
    ]


def bound():
    slots = f"role_model_category:topdownd_pipeline_slots:rate5m{{{GROUP}}}"
    return [
        panels.row("What is the fleet bound by?"),
        panels.stack("Level 1 of the fleet", "Where the pipeline slots of all chosen roles and models go. Busy hosts weigh more. Pipeline slots of "
                     "different CPU models are not the same work: read a change, then look at the panels by role and model.", "percentunit",
                     [(f"sum by (category) ({slots}) / scalar(sum({slots}))", "{{category}}")], field={"max": 1}),
        panels.stack("Sockets by what they are bound by", "How many sockets give each answer now. `none`: nothing is known to be high.", "short",
                     [(f'label_replace(count by (category) (topdownd_bound_info{{category!=""}} {THESE}), "category", "$1", "category", "(.*)") or '
                       f'label_replace(count(topdownd_bound_info{{path="none"}} {THESE}), "category", "none", "", "")', "{{category}}")]),
        panels.lines("Back-end bound by role and model", "Share of the slots that waited for data or execution units. A step in one role on all models is a change of "
                     "the software; a step on one model is one of the platform.", "percentunit",
                     [(f'role_model_category:topdownd_pipeline_slots:share5m{{{GROUP},category="backend_bound"}}', LEGEND)],
                     (12, 9)),
        panels.lines("Front-end bound by role and model", "Share of the slots that waited for instructions. Large or scattered code does that.", "percentunit",
                     [(f'role_model_category:topdownd_pipeline_slots:share5m{{{GROUP},category="frontend_bound"}}', LEGEND)],
                     (12, 9)),
        panels.table("Longest bound", "The fifty sockets whose answer has stood longest. Follow the host to its dashboard or its page.", "s",
                     [(f'topk(50, (time() - topdownd_bound_since_timestamp_seconds) * on (instance, core_type, socket) group_left (path, category) '
                       f'topdownd_bound_info{{path!="none"}} {THESE})', "")], (24, 9), names={"Value": "for", "path": "bound by"}, units={"for": "s"},
                     host_links=HOST_LINKS),
    ]


def opportunities():
    share = f"role_model_action:topdownd_opportunity:share5m{{{GROUP}}}"
    return [
        panels.row("What would be gained?"),
        panels.table("Most to win, by role and action", "The share of a role's pipeline slots that an action could win at most, the twenty largest. Actions overlap: never add "
                     "them. docs/opportunities.md has what each bound assumes.", "percentunit", [(f"topk(20, {share})", "")], (12, 9),
                     hide=("spec",), names={"Value": "at most"}),
        panels.table("How certain that is", "Half of the 95 % interval of these shares, from how much the hosts of a role differ.", "percentunit",
                     [(f"role_model_action:topdownd_opportunity:error5m{{{GROUP}}} and topk(20, {share})", "")], (12, 9), hide=("spec",),
                     names={"Value": "give or take"}),
    ]


def suspects():
    """Hosts that are worse than others of their kind, after topdownd.outliers.yml."""
    about = ("how many spreads of its group the host is worse than the center of the hosts of its role, CPU model and definition, its error bar counted in "
             "its favour. Above 3 for ten minutes is an alert. Groups of fewer than ten hosts raise none.")
    return [
        panels.row("Hosts that differ from their kind"),
        panels.table("Suspects by IPC", f"The twenty hosts with the largest excess: {about}", "short",
                     [(f"topk(20, instance:topdownd_ipc:excess30m{{{HOSTS}}})", "")], (12, 8), hide=("spec", "microarchitecture"),
                     names={"Value": "excess"}, host_links=HOST_LINKS),
        panels.table("Suspects by level 1", f"The twenty hosts and categories with the largest excess: {about}", "short",
                     [(f"topk(20, instance_category:topdownd_pipeline_slots:excess30m{{{HOSTS}}})", "")], (12, 8),
                     hide=("spec", "microarchitecture"), names={"Value": "excess"}, host_links=HOST_LINKS),
    ]


def capacity():
    return [
        panels.row("Capacity"),
        panels.lines("Effective capacity", "Retiring over peak: the share of what the cores could do that became useful work. When it falls at the same load per "
                     "host, the fleet needs more hosts for the same work.", "percentunit",
                     [(f"role_model:topdownd_effective_capacity:ratio5m{{{GROUP}}}", LEGEND)], field={"min": 0}),
        panels.lines("Headroom", "The share of the peak that no thread takes. It is room for more of the same load as long as frequency, memory bandwidth and "
                     "the siblings of busy threads allow it.", "percentunit", [(f"role_model:topdownd_headroom:ratio5m{{{GROUP}}}", LEGEND)], field={"min": 0}),
        panels.lines("Peak", "Pipeline slots per second that the covered cores could give. It falls when hosts go or become blind.", "short",
                     [(f"role_model:topdownd_peak_pipeline_slots:covered5m{{{GROUP}}}", LEGEND)], field={"min": 0}),
        panels.lines("Instructions per cycle", "IPC of each role and model, one definition a line. Compare a line with itself in the past; different roles or "
                     "models have different work.", "short", [(f"role_model:topdownd_ipc:ratio5m{{{GROUP}}}", LEGEND)], field={"min": 0}),
        panels.lines("Frequency", "Clock cycles per second of the time awake. A fall on one model is power, heat or a governor.", "hertz",
                     [(f"role_model:topdownd_frequency_hertz:ratio5m{{{GROUP}}}", LEGEND)]),
        panels.lines("Misses per 1,000 instructions", "Last-level cache and DTLB misses by role, model and definition. Worth a look above 2.", "short",
                     [(f'role_model_metric:topdownd_mpki:ratio5m{{{GROUP},metric=~"ll_cache_mpki|dtlb_mpki"}}',
                       "{{metric}} {{role}} {{microarchitecture}} {{core_type}} {{definition}}")], field={"min": 0}),
        panels.lines("Memory nearest to its peak", "Bytes a second over the most that the memory of a socket can move, of the ten sockets with the largest share. "
                     "Above 0.7 a socket that is bound by memory is short of bandwidth; below 0.4 it waits for latency. Sockets whose peak is not known "
                     "are absent.", "percentunit",
                     [(f"topk(10, instance_socket:topdownd_memory_utilization:ratio5m {THESE})", "{{instance}} socket {{socket}}")], (12, 8),
                     {"min": 0, "max": 1}),
        panels.lines("Most memory of other nodes", "Allocations of memory on another NUMA node than that of the CPU that asked, as a share of all, of the ten hosts "
                     "with the largest. Threads or memory that are pinned to the wrong node, or a node that is full. Hosts with one node are absent.",
                     "percentunit", [(f"topk(10, instance:topdownd_numa_remote_allocations:ratio5m {THESE})", "{{instance}}")], (12, 8),
                     {"min": 0, "max": 1}),
        panels.lines("Most traffic of devices", "Bytes a second that devices write into memory (`in`) and read from it (`out`), of the ten sockets and directions with the "
                     "most. Hosts that do not measure devices (`uncore.groups` with `io`) are absent.", "Bps",
                     [(f"topk(10, sum by (instance, socket, direction) (rate(topdownd_io_bytes_total[5m]) {THESE}))",
                       "{{instance}} socket {{socket}} {{direction}}")], (24, 8), {"min": 0}),
    ]


def trust():
    seen = f"instance:topdownd_covered_cpu:ratio5m {THESE}"
    return [
        panels.row("How far to trust it, and what it costs"),
        panels.lines("Coverage of the worst hosts", "Share of the CPU time that the counters represent, of the ten hosts with the smallest.", "percentunit",
                     [(f"bottomk(10, {seen})", "{{instance}} {{core_type}}")], field={"max": 1}),
        panels.lines("Not covered, by reason", "CPU time that no estimate covers, as CPUs' worth over all hosts.", "short",
                     [(f"sum by (reason) (rate(topdownd_uncovered_cpu_seconds_total[5m]) {THESE})", "{{reason}}")], field={"min": 0}),
        panels.lines("Cost of measuring", "CPU time that measuring takes as a share of the host, of the ten hosts with the largest.", "percentunit",
                     [(f"topk(10, instance:topdownd_overhead:ratio5m {THESE})", "{{instance}}")], field={"min": 0}),
        panels.table("Blind hosts and PMUs, by reason", "Each PMU that is missing or fails. /api/v1/status of the host has the remedy.", "none",
                     [(f"topdownd_pmu_error {THESE}", "")], (12, 8), hide=LABELS, host_links=HOST_LINKS),
        panels.lines("Versions", "Hosts by version of topdownd. docs/fleet.md says how far versions mix.", "short",
                     [(f"count by (version) (topdownd_build_info {THESE})", "{{version}}")], (6, 8), {"min": 0}),
        panels.lines("Configurations", "Hosts by profile and hash of the configuration. A fleet with few hashes is configured alike.", "short",
                     [(f"count by (profile, hash) (topdownd_config_info {THESE})", "{{profile}} {{hash}}")], (6, 8), {"min": 0}),
    ]


def dashboard():
    links = [panels.dashboard_link("Host", "/d/topdownd-host?var-datasource=${datasource}", "One host")]
    return panels.dashboard(UID, "topdownd: fleet", "What the fleet is bound by, its capacity, and hosts that need a look. Needs the recording rules of "
                            "packaging/prometheus.", variables(), links, [*state(), *bound(), *opportunities(), *suspects(), *capacity(), *trust()],
                            [panels.alerts(ALERTING)])
