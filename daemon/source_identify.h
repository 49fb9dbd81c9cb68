// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_IDENTIFY_H
#define TOPDOWND_DAEMON_SOURCE_IDENTIFY_H

// Which spec this host's CPUs have, and which of them are measured. A host may have cores of several kinds; those that
// have the spec of its first CPU are measured.

#include "core/cpuset.h"
#include "daemon/source.h"

// Sets source->row and what is known of the CPU. No row: no spec is for it, or the kernel does not say what it is.
void source_identify(struct source *source, const struct specs *specs);

// The CPUs that may be measured: those that the PMU counts on, and of these the selected ones; where none are selected
// (NULL), all that nobody wants left alone.
void source_choose_cpus(const struct source *source, const struct cpuset *selected, struct cpuset *out);

// Takes the CPUs off that have another spec, for which every CPU is asked what core it is.
void source_remove_other_cores(const struct source *source, struct cpuset *set);

// CPUs that are online and selected and not among `ours`: their cores are of another kind.
size_t source_count_other_cores(const struct source *source, const struct cpuset *selected, const struct cpuset *ours);

#endif
