// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_STATUS_STATUS_H
#define TOPDOWND_CORE_STATUS_STATUS_H

// The daemon itself at one moment, as a part of each snapshot. Whoever knows a value writes its member; pages that show
// numbers ask for them by number. A number that is not known is NaN.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// In the place of an error: it is not known any more (status_forget_now).
enum { STATUS_ERROR_UNKNOWN = 1 };

// How long rotations take: upper bounds in seconds; +Inf is the number of all.
enum { STATUS_BUCKETS_N = 3 };
extern const double status_rotation_bounds[STATUS_BUCKETS_N];

// What is the same for all engines.
struct status {
    bool known; // false: nobody has filled it in, and there are no numbers
    struct status_config {
        bool successful;        // the last attempt to load it
        double success_seconds; // when it was last loaded, since the epoch
    } config;
    struct status_textfile {
        bool tried;        // it has been written, or could not be
        int error;         // negative errno of the last time; 0: it was written
        uint64_t failures; // total
    } textfile;
    struct status_cost {           // of all event groups; totals
        double collection_seconds; // CPU time spent on them
        uint64_t calls;            // to the PMU
        uint64_t interrupts;       // of other CPUs by these calls
        double interrupt_seconds;  // time that these took there, estimated
        double budget_used;        // share of the budget in the last whole period
    } cost;
    struct status_rotations {
        uint64_t n;
        double seconds;
        uint64_t within[STATUS_BUCKETS_N]; // of status_rotation_bounds, cumulative
    } rotations;
    struct status_process { // NaN: unreadable
        double cpu_seconds, resident_bytes, virtual_bytes, open_fds, max_fds, start_timestamp;
    } process;
    double certificate_expiry_seconds; // of the HTTP server's, since the epoch; NaN: no TLS
};

enum status_number {
    STATUS_CONFIG_SUCCESSFUL, // 1, 0
    STATUS_CONFIG_SUCCESS_TIMESTAMP,
    STATUS_CERTIFICATE_EXPIRY,
    STATUS_TEXTFILE_UP, // 1, 0
    STATUS_TEXTFILE_FAILURES,
    STATUS_COLLECTION_SECONDS,
    STATUS_CALLS,
    STATUS_INTERRUPTS,
    STATUS_INTERRUPT_SECONDS,
    STATUS_BUDGET_USED,
    STATUS_ROTATIONS,
    STATUS_ROTATION_SECONDS,
    STATUS_PROCESS_CPU_SECONDS,
    STATUS_PROCESS_RESIDENT_BYTES,
    STATUS_PROCESS_VIRTUAL_BYTES,
    STATUS_PROCESS_OPEN_FDS,
    STATUS_PROCESS_MAX_FDS,
    STATUS_PROCESS_START_TIMESTAMP,
    STATUS_ROTATIONS_WITHIN, // STATUS_BUCKETS_N numbers
    STATUS_N = STATUS_ROTATIONS_WITHIN + STATUS_BUCKETS_N
};
double status_series(const struct status *status, size_t number);

// What belongs to one engine.
struct status_engine {
    double counted_seconds; // when anything was last counted, since the epoch; before, of the start
    struct status_pmu {
        bool used;           // false: the plan asks nothing of it
        bool up;             // it delivered counts since the last snapshot
        double kernel_bytes; // the kernel's memory behind the open events, estimated; NaN: none are opened
    } pmu;
    struct status_recording {
        bool on;
        int error;            // negative errno of the last write; 0: it succeeded
        uint64_t bytes;       // written, total
        uint64_t rounds_lost; // missing from the recording, total
    } recording;
};

enum status_engine_number {
    STATUS_COUNTED_TIMESTAMP,
    STATUS_PMU_UP, // 1, 0
    STATUS_PMU_KERNEL_BYTES,
    STATUS_RECORDING_UP, // 1, 0
    STATUS_RECORDING_BYTES,
    STATUS_RECORDING_ROUNDS_LOST,
    STATUS_ENGINE_N
};
double status_engine_series(const struct status_engine *engine, size_t number);

extern const struct status status_unknown;
extern const struct status_engine status_engine_unknown;

// Leaves what is true also when the moment is long past, such as totals. The PMU is down then.
void status_forget_now(struct status *status, struct status_engine *engine);

#endif
