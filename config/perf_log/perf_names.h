// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_NAMES_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_NAMES_H

// perf's own names of events ("cycles", "cache-misses"): what the kernel counts for them is another event on each
// vendor's CPUs. Which one is data (specs/perf/names.json).

#include "core/base/error.h"

struct perf_names;

// Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM.
int perf_names_load(const char *path, struct errors *errors, struct perf_names **out);
int perf_names_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_names **out);
struct perf_names *perf_names_free(struct perf_names *names);

// What that name, of so many bytes and in any case, means on a CPU of that vendor, as terms; NULL where perf has no
// such name, or it is not the same everywhere.
const char *perf_names_find(const struct perf_names *names, const char *vendor, const char *name, size_t length);

#endif
