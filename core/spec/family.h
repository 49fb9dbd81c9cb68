// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_FAMILY_H
#define TOPDOWND_CORE_SPEC_FAMILY_H

// The Prometheus families that every host has, independent of its spec: name, type and help in one table. They are an
// interface; docs/metrics.md lists them for users. They are in core because two layers need the names: exporters write
// them, and a catalog refuses a metric of the same name.

#include <stdbool.h>

enum family {
    FAMILY_PIPELINE_SLOTS,
    FAMILY_SMT_CONTENTION,
    FAMILY_NUMERATOR,
    FAMILY_DENOMINATOR,
    FAMILY_METRIC_INFO,
    FAMILY_STANDARD_ERROR,
    FAMILY_PEAK_PIPELINE_SLOTS,
    FAMILY_BOUND,
    FAMILY_BOUND_SINCE,
    FAMILY_BOUND_UNSEEN,
    FAMILY_BOUND_CERTAIN,
    FAMILY_OPPORTUNITY,
    FAMILY_COVERED,
    FAMILY_UNCOVERED,
    FAMILY_GUEST,
    FAMILY_BUSY,
    FAMILY_CPUS,
    FAMILY_WINDOWS,
    FAMILY_ENABLED,
    FAMILY_RUNNING,
    FAMILY_NOT_LIVE,
    FAMILY_DEVIATION,
    FAMILY_COMPOSITE,
    FAMILY_LEVEL1_ERROR,
    FAMILY_IPC_ERROR,
    FAMILY_PMU_UP,
    FAMILY_PMU_ERROR,
    FAMILY_PMU_COUNTERS,
    FAMILY_PMU_KERNEL_MEMORY,
    FAMILY_GUESTS_EXCLUDED,
    FAMILY_MEMORY_BYTES,
    FAMILY_MEMORY_PEAK,
    FAMILY_LLC_MISS_BYTES,
    FAMILY_INTERCONNECT_BYTES,
    FAMILY_IO_BYTES,
    FAMILY_NUMA_ALLOCATIONS,
    FAMILY_NUMA_MISSED,
    FAMILY_NUMA_HINT_FAULTS,
    FAMILY_TIER_MOVED,
    FAMILY_RESCTRL_BYTES,
    FAMILY_UNCORE_EVENT,
    FAMILY_UNCORE_UP,
    FAMILY_UNCORE_ERROR,
    FAMILY_ROTATION_DURATION,
    FAMILY_COLLECTION,
    FAMILY_CALLS,
    FAMILY_INTERRUPTS,
    FAMILY_INTERRUPT_SECONDS,
    FAMILY_BUDGET,
    FAMILY_DECISIONS,
    FAMILY_NOT_READY,
    FAMILY_LAST_SNAPSHOT,
    FAMILY_GAUGES_AGE,
    FAMILY_RECORDING_UP,
    FAMILY_RECORDING_BYTES,
    FAMILY_RECORDING_ROUNDS_LOST,
    FAMILY_TEXTFILE_UP,
    FAMILY_TEXTFILE_FAILURES,
    FAMILY_CPU_INFO,
    FAMILY_PLATFORM_INFO,
    FAMILY_BUILD_INFO,
    FAMILY_CONFIG_INFO,
    FAMILY_CONFIG_SUCCESSFUL,
    FAMILY_CONFIG_SUCCESS_TIMESTAMP,
    FAMILY_CERTIFICATE_EXPIRY,
    FAMILY_PROCESS_CPU,
    FAMILY_PROCESS_RESIDENT,
    FAMILY_PROCESS_VIRTUAL,
    FAMILY_PROCESS_OPEN_FDS,
    FAMILY_PROCESS_MAX_FDS,
    FAMILY_PROCESS_START,
    // /metrics/cpu
    FAMILY_CPU_PIPELINE_SLOTS,
    FAMILY_CPU_SMT_CONTENTION,
    FAMILY_CPU_EVENT,
    FAMILY_CPU_COVERED,
    FAMILY_CPU_UNCOVERED,
    FAMILY_CPU_GUEST,
    FAMILY_CPU_OMITTED,
    FAMILY_N
};

// The labels of an info say what something is, and its sample is always 1. What measuring changes, such as the verdict,
// is a gauge.
struct family_info {
    const char *name, *type, *help; // type: "counter", "gauge", "histogram", "info"
};
extern const struct family_info family_table[FAMILY_N];

// True if topdownd_<metric> is, or begins like, one of these names (topdownd_cpu_ belongs to /metrics/cpu), or is the
// name that one of them has in OpenMetrics, without _total or _info.
bool family_collides(const char *metric);

#endif
