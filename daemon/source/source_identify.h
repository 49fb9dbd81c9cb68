// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_IDENTIFY_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_IDENTIFY_H

// Which of the host's CPUs a source measures: those of its cores that the PMU counts on and that are selected.

#include "core/base/cpuset.h"
#include "daemon/source/source_host.h"

struct source_cpus {
    struct cpuset selected; // all that nobody wants left alone where there is no selection
    struct cpuset own;      // of this type, where the host has several
    struct host_choice choice;
};

// Fills *out, which must not be moved. Every CPU is asked what core it is only where `ask` is set; else those that may
// be of another one are among them.
void source_choose_cpus(const struct source_host *host, const struct cpuset *selected, bool ask,
                        struct source_cpus *out);

// CPUs that are online and selected and of none of the sources.
size_t source_count_other_cores(const struct source_host *const *hosts, size_t n, const struct cpuset *selected);

#endif
