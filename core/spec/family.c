// SPDX-License-Identifier: Apache-2.0
#include "core/spec/family.h"

#include <string.h>

#define PREFIX "topdownd_"

const struct family_info family_table[FAMILY_N] = {
    [FAMILY_PIPELINE_SLOTS] =
        {PREFIX "pipeline_slots_total", "counter",
         "Pipeline slots by level-1 category. The categories of a socket add up to all its pipeline slots."},
    [FAMILY_SMT_CONTENTION] = {PREFIX "smt_contention_pipeline_slots_total", "counter",
                               "Pipeline slots that hardware threads lost to their siblings, beside the categories: "
                               "the sibling used them. Absent where the PMU cannot tell."},
    [FAMILY_NUMERATOR] =
        {PREFIX "metric_numerator_total", "counter",
         "Events above the line of each metric of the form k A/B. A metric over any time and any set of "
         "hosts is k * sum(rate(numerator)) / sum(rate(denominator))."},
    [FAMILY_DENOMINATOR] =
        {PREFIX "metric_denominator_total", "counter",
         "Events below the line of each metric of the form k A/B, advanced together with the numerator "
         "and from the same windows."},
    [FAMILY_METRIC_INFO] =
        {PREFIX "metric_info", "info",
         "1 for each metric whose name every vendor has, with the definition that this CPU's events come nearest to. "
         "Compare values of one definition."},
    [FAMILY_STANDARD_ERROR] = {PREFIX "metric_standard_error", "gauge",
                               "Standard error of each metric's gauge, in its unit. Absent unless the configuration "
                               "asks for it (standard_error: true), and where there is no estimate yet."},
    [FAMILY_PEAK_PIPELINE_SLOTS] = {PREFIX "peak_pipeline_slots_per_second", "gauge",
                                    "Pipeline slots a second with every measured core at its maximum frequency."},
    [FAMILY_BOUND] =
        {PREFIX "bound_info", "gauge",
         "1 for what each socket is bound by: the path of nodes of the methodology's tree that are high, its level-1 "
         "category, and what to look at next. path is none where nothing is high. A new verdict must last three "
         "rounds."},
    [FAMILY_BOUND_SINCE] = {PREFIX "bound_since_timestamp_seconds", "gauge",
                            "When the verdict of topdownd_bound_info began, in seconds since the epoch."},
    [FAMILY_BOUND_CERTAIN] =
        {PREFIX "bound_certain", "gauge",
         "1 where the 95 % intervals leave the nodes of topdownd_bound_info's path above their thresholds "
         "and no other high root may be larger, else 0."},
    [FAMILY_COVERED] =
        {PREFIX "covered_cpu_seconds_total", "counter",
         "CPU time that the totals stand for, averaged over the metrics that can be, or once could be, measured here."},
    [FAMILY_UNCOVERED] =
        {PREFIX "uncovered_cpu_seconds_total", "counter",
         "CPU time that the totals do not stand for, by reason: starved (others held the counters), "
         "failed (could not open or read), offline, stalled (an event never counts), not_plannable (too "
         "few counters now), yielded (handed over on request), gap (the daemon "
         "did not run)."},
    [FAMILY_CPUS] = {PREFIX "cpus", "gauge",
                     "CPUs by state: measured, excluded (by the configuration, or another kind of core), isolated (or "
                     "tickless: left alone), offline "
                     "(away in the last round)."},
    [FAMILY_WINDOWS] =
        {PREFIX "event_group_windows_total", "counter",
         "Windows in which an event group was to count on a CPU, by result: complete, contended (shared the "
         "counters and was scaled), starved (never counted), failed, implausible (its counts cannot be and are left "
         "out)."},
    [FAMILY_ENABLED] = {PREFIX "event_group_enabled_seconds_total", "counter",
                        "Time in which an event group was enabled, summed over CPUs."},
    [FAMILY_RUNNING] =
        {PREFIX "event_group_running_seconds_total", "counter",
         "Time in which an event group was on the counters, summed over CPUs. Less than enabled: contention."},
    [FAMILY_NOT_LIVE] =
        {PREFIX "event_not_live", "gauge",
         "1 for each event that yields no samples, by state: stalled (runs and never counts), unsupported "
         "(the PMU does not have it), starved (never got the counters in the last round)."},
    [FAMILY_DEVIATION] =
        {PREFIX "level1_deviation_ratio", "gauge",
         "Largest difference in the last round between a category's share of the pipeline slots counted and "
         "the vendor's own formula."},
    [FAMILY_COMPOSITE] =
        {PREFIX "level1_composite", "gauge",
         "1 where level 1 comes from several adjacent windows, because there are too few counters for all its "
         "categories at once; 0 where it comes from one. Absent where it is not measured."},
    [FAMILY_LEVEL1_ERROR] =
        {PREFIX "level1_standard_error_ratio", "gauge",
         "Largest standard error in the last round of the host's level-1 shares, all sockets together."},
    [FAMILY_IPC_ERROR] =
        {PREFIX "ipc_standard_error", "gauge",
         "Standard error in the last round of the host's instructions per cycle, all sockets together."},
    [FAMILY_PMU_UP] = {PREFIX "pmu_up", "gauge", "1 where the PMU delivered counts in the last round."},
    [FAMILY_PMU_ERROR] = {PREFIX "pmu_error", "gauge", "1 for each PMU that is missing or fails, with the reason."},
    [FAMILY_PMU_COUNTERS] =
        {PREFIX "pmu_counters", "gauge",
         "Hardware counters of one CPU, by state: total, usable. Absent where events need no counters."},
    [FAMILY_PMU_KERNEL_MEMORY] =
        {PREFIX "pmu_kernel_memory_bytes", "gauge",
         "Memory that the kernel needs for the events that topdownd holds open: 2 KiB for each event and CPU."},
    [FAMILY_GUESTS_EXCLUDED] =
        {PREFIX "guests_excluded", "gauge",
         "1 where what runs in KVM guests is not counted, 0 where it is. Absent where events need no "
         "counters."},
    [FAMILY_ROTATION_DURATION] = {PREFIX "rotation_duration_seconds", "histogram",
                                  "How long it took to change event groups on all CPUs at one slot edge."},
    [FAMILY_COLLECTION] = {PREFIX "collection_seconds_total", "counter",
                           "CPU time spent on event groups: rotating, reading, probing, opening and closing."},
    [FAMILY_CALLS] = {PREFIX "pmu_calls_total", "counter",
                      "Calls to the PMU for rotating, reading, probing, opening and closing event groups."},
    [FAMILY_INTERRUPTS] = {PREFIX "interrupts_total", "counter", "Interrupts of other CPUs by these calls."},
    [FAMILY_INTERRUPT_SECONDS] =
        {PREFIX "interrupt_seconds_total", "counter",
         "CPU time that these interrupts took from other CPUs, estimated: as long each as a call "
         "takes here."},
    [FAMILY_BUDGET] = {PREFIX "budget_used_ratio", "gauge",
                       "Share of the budget that measuring has used in the last 30 s: 1 is the larger of 0.01 % of the "
                       "machine and 0.1 % of one CPU. Above it slots become longer."},
    [FAMILY_DECISIONS] =
        {PREFIX "schedule_decisions_total", "counter",
         "Metric groups that the adaptive schedule has raised to more of the round, by the level-1 category "
         "that was high, and that have given it back, by the one that fell. Absent where the schedule "
         "is fixed."},
    [FAMILY_LAST_SNAPSHOT] = {PREFIX "last_snapshot_timestamp_seconds", "gauge",
                              "When the newest round with counts ended, in seconds since the epoch. It stands still "
                              "while nothing is counted."},
    [FAMILY_RECORDING_UP] =
        {PREFIX "recording_up", "gauge",
         "1 where the last write to the recording succeeded, 0 from one that failed until one succeeds again. Absent "
         "where nothing is recorded."},
    [FAMILY_RECORDING_BYTES] = {PREFIX "recording_bytes_total", "counter", "Bytes written to the recording's files."},
    [FAMILY_RECORDING_ROUNDS_LOST] = {PREFIX "recording_rounds_lost_total", "counter",
                                      "Rounds that were measured and are not in the recording, because it could not be "
                                      "written or the disk was too slow."},
    [FAMILY_CPU_INFO] = {PREFIX "cpu_info", "info", "The host's CPU and the spec that it is measured with."},
    [FAMILY_PLATFORM_INFO] = {PREFIX "platform_info", "gauge",
                              "What the host's platform is, as far as it bears on the numbers; mixed: CPUs differ."},
    [FAMILY_BUILD_INFO] = {PREFIX "build_info", "info", "The version of this daemon."},
    [FAMILY_CONFIG_INFO] = {PREFIX "config_info", "info",
                            "The profile in force and a hash of the whole configuration."},
    [FAMILY_CONFIG_SUCCESSFUL] = {PREFIX "config_last_reload_successful", "gauge",
                                  "1 where the last attempt to load the configuration succeeded, 0 where it failed and "
                                  "the one before is still in force."},
    [FAMILY_CONFIG_SUCCESS_TIMESTAMP] = {PREFIX "config_last_reload_success_timestamp_seconds", "gauge",
                                         "When the configuration in force was loaded, in seconds since the epoch."},
    [FAMILY_PROCESS_CPU] = {"process_cpu_seconds_total", "counter", "CPU time of this daemon, user and system."},
    [FAMILY_PROCESS_RESIDENT] = {"process_resident_memory_bytes", "gauge", "Resident memory of this daemon."},
    [FAMILY_PROCESS_VIRTUAL] = {"process_virtual_memory_bytes", "gauge", "Virtual memory of this daemon."},
    [FAMILY_PROCESS_OPEN_FDS] = {"process_open_fds", "gauge", "Open file descriptors of this daemon."},
    [FAMILY_PROCESS_MAX_FDS] = {"process_max_fds", "gauge", "Limit of open file descriptors."},
    [FAMILY_PROCESS_START] = {"process_start_time_seconds", "gauge",
                              "When this daemon started, in seconds since the epoch."},
    [FAMILY_CPU_PIPELINE_SLOTS] = {PREFIX "cpu_pipeline_slots_total", "counter",
                                   "Pipeline slots of one CPU by level-1 category."},
    [FAMILY_CPU_SMT_CONTENTION] = {PREFIX "cpu_smt_contention_pipeline_slots_total", "counter",
                                   "Pipeline slots that one CPU lost to its sibling."},
    [FAMILY_CPU_EVENT] = {PREFIX "cpu_event_total", "counter",
                          "Raw events of one CPU, extrapolated to all covered time."},
    [FAMILY_CPU_COVERED] = {PREFIX "cpu_covered_seconds_total", "counter",
                            "Time of one CPU that its totals stand for, averaged over the metrics that can be, or once "
                            "could be, measured here."},
    [FAMILY_CPU_UNCOVERED] = {PREFIX "cpu_uncovered_seconds_total", "counter",
                              "Time of one CPU that its totals do not stand for, by reason."},
};

// Whether a family's name is `metric` and the end that its type has.
static bool is_stem(const struct family_info *family, const char *name, const char *metric) {
    const char *end = strcmp(family->type, "counter") == 0 ? "_total"
                      : strcmp(family->type, "info") == 0  ? "_info"
                                                           : "";
    size_t length = strlen(metric);
    return strncmp(name, metric, length) == 0 && strcmp(name + length, end) == 0;
}

bool family_collides(const char *metric) {
    const size_t prefix = strlen(PREFIX);
    if (strncmp(metric, "cpu_", 4) == 0)
        return true;
    for (int i = 0; i < FAMILY_N; i++) {
        const char *name = family_table[i].name;
        if (strncmp(name, PREFIX, prefix) != 0 || name[prefix] != metric[0])
            continue;
        if (strcmp(name + prefix, metric) == 0 || is_stem(&family_table[i], name + prefix, metric))
            return true;
        // a histogram's own series
        size_t length = strlen(name + prefix);
        if (strcmp(family_table[i].type, "histogram") == 0 && strncmp(name + prefix, metric, length) == 0 &&
            metric[length] == '_')
            return true;
    }
    return false;
}
