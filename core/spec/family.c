// SPDX-License-Identifier: Apache-2.0
#include "core/spec/family.h"

#include <string.h>

#define PREFIX "topdownd_"

const struct family_info family_table[FAMILY_N] = {
    [FAMILY_PIPELINE_SLOTS] = {PREFIX "pipeline_slots_total", "counter",
                               "Pipeline slots by level-1 category, which add up to all slots."},
    [FAMILY_SMT_CONTENTION] = {PREFIX "smt_contention_pipeline_slots_total", "counter",
                               "Pipeline slots lost to the sibling thread, beside the categories."},
    [FAMILY_NUMERATOR] = {PREFIX "metric_numerator_total", "counter", "A of each metric k A/B; /api/v1/catalog has k."},
    [FAMILY_DENOMINATOR] = {PREFIX "metric_denominator_total", "counter",
                            "B of each metric k A/B, from the same windows as A."},
    [FAMILY_METRIC_INFO] = {PREFIX "metric_info", "info", "The definition that a metric of all vendors follows here."},
    [FAMILY_STANDARD_ERROR] = {PREFIX "metric_standard_error", "gauge",
                               "Standard error of each metric's gauge, in its unit."},
    [FAMILY_PEAK_PIPELINE_SLOTS] = {PREFIX "peak_pipeline_slots_per_second", "gauge",
                                    "Pipeline slots a second with all cores at maximum frequency."},
    [FAMILY_BOUND] = {PREFIX "bound_info", "gauge", "What each socket is bound by, and what to look at next."},
    [FAMILY_BOUND_SINCE] = {PREFIX "bound_since_timestamp_seconds", "gauge",
                            "When that verdict began, in seconds since the epoch."},
    [FAMILY_BOUND_UNSEEN] = {PREFIX "bound_since_unseen", "gauge",
                             "1 where that beginning was not seen: the verdict is at least as old."},
    [FAMILY_BOUND_CERTAIN] = {PREFIX "bound_certain", "gauge",
                              "1 where the error bars leave no other verdict, else 0."},
    [FAMILY_OPPORTUNITY] = {PREFIX "opportunity_pipeline_slots_total", "counter",
                            "Pipeline slots that an action could have won at most; never add actions up."},
    [FAMILY_COVERED] = {PREFIX "covered_cpu_seconds_total", "counter", "CPU time that the totals represent."},
    [FAMILY_UNCOVERED] = {PREFIX "uncovered_cpu_seconds_total", "counter",
                          "CPU time that the totals do not represent, by reason."},
    [FAMILY_GUEST] = {PREFIX "guest_cpu_seconds_total", "counter",
                      "CPU time that KVM guests had, in which events that exclude guests count nothing."},
    [FAMILY_BUSY] = {PREFIX "busy_cpu_seconds_total", "counter",
                     "CPU time in which the kernel saw CPUs busy; where no metric tells how busy they are."},
    [FAMILY_CPUS] = {PREFIX "cpus", "gauge", "CPUs by state."},
    [FAMILY_WINDOWS] = {PREFIX "event_group_windows_total", "counter",
                        "Windows in which an event group was to count, by result."},
    [FAMILY_ENABLED] = {PREFIX "event_group_enabled_seconds_total", "counter",
                        "CPU time for which an event group was enabled."},
    [FAMILY_RUNNING] = {PREFIX "event_group_running_seconds_total", "counter",
                        "CPU time for which an event group was on the counters."},
    [FAMILY_NOT_LIVE] = {PREFIX "event_not_live", "gauge", "1 for each event that yields no samples, with the reason."},
    [FAMILY_DEVIATION] = {PREFIX "level1_deviation_ratio", "gauge",
                          "Largest difference of a category to the vendor's formula."},
    [FAMILY_COMPOSITE] = {PREFIX "level1_composite", "gauge", "1 where level 1 combines adjacent windows, else 0."},
    [FAMILY_LEVEL1_ERROR] = {PREFIX "level1_standard_error_ratio", "gauge",
                             "Largest standard error of the host's level-1 shares."},
    [FAMILY_IPC_ERROR] = {PREFIX "ipc_standard_error", "gauge", "Standard error of the host's instructions per cycle."},
    [FAMILY_PMU_UP] = {PREFIX "pmu_up", "gauge", "1 where the PMU delivered counts since the last snapshot."},
    [FAMILY_PMU_ERROR] = {PREFIX "pmu_error", "gauge", "1 for each PMU that is missing or fails, with the reason."},
    [FAMILY_PMU_COUNTERS] = {PREFIX "pmu_counters", "gauge", "Hardware counters of one CPU, by state."},
    [FAMILY_PMU_KERNEL_MEMORY] = {PREFIX "pmu_kernel_memory_bytes", "gauge",
                                  "Memory of the kernel for the open events."},
    [FAMILY_GUESTS_EXCLUDED] = {PREFIX "guests_excluded", "gauge", "1 where KVM guests are not counted, else 0."},
    [FAMILY_MEMORY_BYTES] = {PREFIX "memory_bytes_total", "counter",
                             "Bytes read from and written to memory, by its kind."},
    [FAMILY_MEMORY_PEAK] =
        {PREFIX "memory_peak_bytes_per_second", "gauge",
         "The most that the DRAM of a socket can move, as the configuration states it or the host tells it."},
    [FAMILY_LLC_MISS_BYTES] =
        {PREFIX "llc_miss_bytes_total", "counter",
         "Bytes that the caches of a socket missed, by where the memory is (AMD, Arm), or that were "
         "requested of its memory, by which socket asked (Intel)."},
    [FAMILY_INTERCONNECT_BYTES] = {PREFIX "interconnect_bytes_total", "counter", "Bytes between sockets."},
    [FAMILY_IO_BYTES] = {PREFIX "io_bytes_total", "counter",
                         "Bytes that devices wrote to a socket (in) and read from it (out)."},
    [FAMILY_NUMA_ALLOCATIONS] = {PREFIX "numa_allocations_total", "counter",
                                 "Allocations of memory, by whether it is on the NUMA node of the CPU that asked."},
    [FAMILY_NUMA_MISSED] = {PREFIX "numa_missed_allocations_total", "counter",
                            "Allocations on another NUMA node than wanted, because that had no room."},
    [FAMILY_NUMA_HINT_FAULTS] = {PREFIX "numa_hint_faults_total", "counter",
                                 "Page faults by which NUMA balancing samples accesses, by where the page was."},
    [FAMILY_TIER_MOVED] = {PREFIX "memory_tier_moved_bytes_total", "counter",
                           "Bytes that the kernel moved between tiers of memory."},
    [FAMILY_RESCTRL_BYTES] = {PREFIX "resctrl_memory_bytes_total", "counter",
                              "Bytes between last-level caches and memory as resctrl counts them."},
    [FAMILY_UNCORE_EVENT] = {PREFIX "uncore_event_total", "counter",
                             "Events of PMUs that the configuration names, in base units."},
    [FAMILY_UNCORE_UP] = {PREFIX "uncore_up", "gauge",
                          "1 where a kind of PMU outside the cores delivered counts since the last snapshot."},
    [FAMILY_UNCORE_ERROR] = {PREFIX "uncore_error", "gauge",
                             "1 for each kind of PMU outside the cores that is missing or fails, with the reason."},
    [FAMILY_ROTATION_DURATION] = {PREFIX "rotation_duration_seconds", "histogram",
                                  "Time to change event groups on all CPUs at one slot edge."},
    [FAMILY_COLLECTION] = {PREFIX "collection_seconds_total", "counter", "CPU time spent on event groups."},
    [FAMILY_CALLS] = {PREFIX "pmu_calls_total", "counter", "Calls to the PMU."},
    [FAMILY_INTERRUPTS] = {PREFIX "interrupts_total", "counter", "Interrupts of other CPUs by calls to the PMU."},
    [FAMILY_INTERRUPT_SECONDS] = {PREFIX "interrupt_seconds_total", "counter",
                                  "CPU time that these interrupts took, estimated."},
    [FAMILY_BUDGET] = {PREFIX "budget_used_ratio", "gauge",
                       "Used share of the budget for measuring, in the last 30 s."},
    [FAMILY_DECISIONS] = {PREFIX "schedule_decisions_total", "counter",
                          "Decisions of the adaptive schedule, by their cause."},
    [FAMILY_NOT_READY] = {PREFIX "not_ready", "gauge",
                          "1 while topdownd does not count what it is configured to count; 0: a part does not."},
    [FAMILY_LAST_SNAPSHOT] = {PREFIX "last_snapshot_timestamp_seconds", "gauge",
                              "When the newest snapshot with counts was made."},
    [FAMILY_GAUGES_AGE] = {PREFIX "gauges_age_seconds", "gauge",
                           "How long before the newest snapshot the newest round ended that its gauges are of."},
    [FAMILY_RECORDING_UP] = {PREFIX "recording_up", "gauge",
                             "1 where the last write to the recording succeeded, else 0."},
    [FAMILY_RECORDING_BYTES] = {PREFIX "recording_bytes_total", "counter", "Bytes written to the recording's files."},
    [FAMILY_RECORDING_ROUNDS_LOST] = {PREFIX "recording_rounds_lost_total", "counter",
                                      "Rounds that could not be recorded."},
    [FAMILY_TEXTFILE_UP] = {PREFIX "textfile_up", "gauge",
                            "1 where the text file could be written the last time, else 0."},
    [FAMILY_TEXTFILE_FAILURES] = {PREFIX "textfile_failures_total", "counter",
                                  "How often the text file could not be written."},
    [FAMILY_CPU_INFO] = {PREFIX "cpu_info", "info", "The host's CPU, and the spec that it is measured with."},
    [FAMILY_PLATFORM_INFO] = {PREFIX "platform_info", "gauge", "The host's platform; mixed: CPUs differ."},
    [FAMILY_BUILD_INFO] = {PREFIX "build_info", "info",
                           "The version of topdownd, and the commit that it was built from."},
    [FAMILY_CONFIG_INFO] = {PREFIX "config_info", "info", "The profile in force, and a hash of the configuration."},
    [FAMILY_CONFIG_SUCCESSFUL] = {PREFIX "config_last_reload_successful", "gauge",
                                  "1 where the last reload succeeded, else 0."},
    [FAMILY_CONFIG_SUCCESS_TIMESTAMP] = {PREFIX "config_last_reload_success_timestamp_seconds", "gauge",
                                         "When the configuration in force was loaded."},
    [FAMILY_CERTIFICATE_EXPIRY] = {PREFIX "tls_certificate_expiry_timestamp_seconds", "gauge",
                                   "When the server's TLS certificate expires."},
    [FAMILY_PROCESS_CPU] = {"process_cpu_seconds_total", "counter", "CPU time of topdownd, user and system."},
    [FAMILY_PROCESS_RESIDENT] = {"process_resident_memory_bytes", "gauge", "Resident memory of topdownd."},
    [FAMILY_PROCESS_VIRTUAL] = {"process_virtual_memory_bytes", "gauge", "Virtual memory of topdownd."},
    [FAMILY_PROCESS_OPEN_FDS] = {"process_open_fds", "gauge", "Open file descriptors of topdownd."},
    [FAMILY_PROCESS_MAX_FDS] = {"process_max_fds", "gauge", "Limit of open file descriptors."},
    [FAMILY_PROCESS_START] = {"process_start_time_seconds", "gauge",
                              "When topdownd started, in seconds since the epoch."},
    [FAMILY_CPU_PIPELINE_SLOTS] = {PREFIX "cpu_pipeline_slots_total", "counter",
                                   "Pipeline slots of one CPU, by level-1 category."},
    [FAMILY_CPU_SMT_CONTENTION] = {PREFIX "cpu_smt_contention_pipeline_slots_total", "counter",
                                   "Pipeline slots that one CPU lost to its sibling."},
    [FAMILY_CPU_EVENT] = {PREFIX "cpu_event_total", "counter",
                          "Raw events of one CPU, estimated for all covered time."},
    [FAMILY_CPU_COVERED] = {PREFIX "cpu_covered_seconds_total", "counter",
                            "Time of one CPU that its totals represent."},
    [FAMILY_CPU_UNCOVERED] = {PREFIX "cpu_uncovered_seconds_total", "counter",
                              "Time of one CPU that its totals do not represent, by reason."},
    [FAMILY_CPU_GUEST] = {PREFIX "cpu_guest_seconds_total", "counter",
                          "Time that KVM guests had the CPU, in which events that exclude guests count nothing."},
    [FAMILY_CPU_OMITTED] = {PREFIX "cpu_series_omitted", "gauge", "Series left out above max_cpu_series, by kind."},
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
