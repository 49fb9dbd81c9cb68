// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_PERF_LOG_PERF_NAMES_H
#define TOPDOWND_CONFIG_PERF_LOG_PERF_NAMES_H

// perf's own names of events ("cycles", "cache-misses"), for which the kernel counts a different event on each vendor's
// CPUs, or on all that one driver is for. specs/perf/names.json maps them.

#include <stdbool.h>

#include "core/base/error.h"
#include "core/spec/catalog.h"

struct perf_names;

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int perf_names_load(const char *path, struct errors *errors, struct perf_names **out);
int perf_names_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_names **out);
struct perf_names *perf_names_free(struct perf_names *names);

// True if perf has this name of its own, whatever it means where.
bool perf_names_has(const struct perf_names *names, const char *name, size_t length);

// The terms that the name, `length` bytes in any case, means on this product: on all of its vendor, with its PMU, or of
// its microarchitecture. NULL if perf has no such name or its meaning varies.
const char *perf_names_find(const struct perf_names *names, const struct catalog_product *product, const char *name,
                            size_t length);

#endif
