// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_BUILD_BUILD_H
#define TOPDOWND_TESTS_BUILD_BUILD_H

// The one builder of the tests' objects: catalogs, CPUs, plans, layouts. A test states only what matters to it and gets
// defaults for the rest. A failure to build fails the test.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/host/topology.h"
#include "core/plan/plan.h"
#include "core/spec/catalog_builder.h"
#include "core/tally/snapshot.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

// ---- catalogs ----

// A catalog of no events for a PMU of this name.
struct catalog_builder *builder_for(const char *pmu);

// A catalog with these events; an event whose name begins with FIXED has a counter of its own.
struct catalog_builder *builder_of(const char *const *events, size_t n);

void metric_of(struct catalog_builder *builder, const char *name, const char *formula, const char *units);

// The level-1 split of 2 categories: 4 slots a cycle, shared out by A and B.
void level1_of(struct catalog_builder *builder, const char *pipeline_slots, const char *frontend, const char *backend);

// `metrics`: names with one space between them.
void group_of(struct catalog_builder *builder, const char *name, const char *metrics);

// ---- CPUs ----

struct topology *build_topology(const struct topology_source *cpus, size_t n);

// CPUs with a core each from id `first` on, dealt out to the sockets one after the other.
struct topology *build_cpus(unsigned first, unsigned n, unsigned sockets);

// ---- plans ----

// A plan of this request. Without selections it has all of the catalog's groups, without slot_ns slots of 200 ms.
struct plan *build_plan(const struct plan_request *request);

// Takes both over.
struct snapshot_layout *build_layout(struct plan *plan, struct topology *topology);

#endif
