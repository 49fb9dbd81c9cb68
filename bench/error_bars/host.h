// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ERROR_BARS_HOST_H
#define TOPDOWND_BENCH_ERROR_BARS_HOST_H

// A simulated host of two sockets with eight cores each, measured as `topdownd measure` does: the same plan, the same
// sampler and derivation, and the same result of many snapshots (daemon/measure/collected.h). Beside each interval of
// the result stands what its error truly was.

#include "bench/accuracy/trial.h"

enum { HOST_SOCKETS = 2, HOST_CORES = 16 };

enum host_class { HOST_LEVEL1, HOST_IPC, HOST_MPKI, HOST_CLASSES };
enum host_scope { HOST_ALL, HOST_SOCKET, HOST_CPU, HOST_SCOPES };

struct host {
    struct setting setting;
    double seconds;           // of a measurement
    enum host_class *classes; // [metric of the plan]; HOST_CLASSES: it is not judged
};

// `threads` of a core do the same at the same times. Ends the program where that fails.
void host_init(struct host *host, const struct catalog *catalog, const double *rates, double seconds, unsigned threads);
void host_deinit(struct host *host);

// Scopes are those of core/counts/scopes.h.
size_t host_n_scopes(const struct host *host);
enum host_scope host_scope_of(const struct host *host, size_t scope);

// One value and its interval. Shares of pipeline slots are absolute, all others relative to the truth.
struct host_item {
    float error, half;
    enum {
        HOST_NO_VALUE,
        HOST_ABSENT,  // it has no interval
        HOST_UNKNOWN, // it is poor, and says that too little was seen to know
        HOST_POOR,    // for another reason
        HOST_SHOWN
    } state;
};

// Measures one run. Writes [scope][metric of the plan]: of the whole measurement, and of its last snapshot alone.
void host_run(const struct host *host, const struct load_kind *kind, uint64_t seed, struct host_item *whole,
              struct host_item *last);

#endif
