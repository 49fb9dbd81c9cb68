// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_H
#define TOPDOWND_DAEMON_SOURCE_H

// Where counts come from: the kernel's counters of this host, or a simulated host; and with which spec they are read.

#include "collectors/host_linux.h"
#include "collectors/pmu.h"
#include "core/scenario.h"
#include "daemon/data.h"
#include "daemon/options.h"
#include "exporters/view.h"

enum { SOURCE_ERRORS_MAX = 2, SOURCE_TEXT_MAX = 512 };

struct source {
    const struct catalog *catalog; // borrowed from the specs
    struct scenario *scenario;     // simulated, else NULL
    struct host_roots roots;
    struct host_cpu cpu;
    const char *microarchitecture; // of the CPU, "unknown" where it is not known
    const char *pmu_name;
    unsigned general_counters; // 0: events take none
    // what is missing or fails, for people and for topdownd_pmu_error
    struct view_pmu_error errors[SOURCE_ERRORS_MAX];
    char error_texts[SOURCE_ERRORS_MAX][SOURCE_TEXT_MAX];
    size_t n_errors;
};

// Decides; says what a host without a hardware PMU lacks. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int source_init(struct source *source, const struct options *options, const char *data, const struct specs *specs,
                struct errors *errors);
void source_deinit(struct source *source);

// `selected`: the CPUs to measure, NULL for all.
int source_topology(const struct source *source, const struct cpuset *selected, struct errors *errors,
                    struct topology **out);

// Opens nothing yet. A simulated host's time begins at now_ns.
int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);

// Notes that `n_failed` event groups could not be opened because of `error` (a negative errno).
void source_note_open_error(struct source *source, int error, size_t n_failed);

// Counters of one CPU, fixed ones included; 0: events take none.
unsigned source_counters(const struct source *source);

#endif
