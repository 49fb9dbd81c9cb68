// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_PRIVATE_H
#define TOPDOWND_CORE_SPEC_CATALOG_PRIVATE_H

// What the files of catalog share: catalog.c makes and frees, catalog_event.c has events and their codes,
// catalog_metric.c metrics, catalog_group.c groups and the methodology, catalog_level1.c level 1.

#include "core/spec/catalog.h"

enum { CATALOG_NAME_MAX = 120 };

// strdup, and "" for NULL.
char *catalog_copy(const char *text);

// Room for one more zeroed item in an array of n; NULL where memory is short. Arrays grow by doubling.
void *catalog_grow(void **array, size_t n, size_t size);

// Refuses names that are not printable, too long, or (`exists`) there already.
int catalog_check_name(const char *kind, const char *name, bool exists, struct fault *fault);

// Appends an event of any kind; the caller has checked the name. The index, or -ENOMEM.
int catalog_append_event(struct catalog *catalog, const struct catalog_event_text *text, enum catalog_event_kind kind);

// Adds an event with modifiers, "NAME:u" or "pmu@terms@u", made of the event without them. The index, -ENOENT where it
// is no such name, -ENOMEM.
int catalog_add_modified(struct catalog *catalog, const char *name);

// Compiles a formula over the catalog's events and metrics; `self` is the name of the metric that it is for, or NULL.
// One that names neither is refused.
int catalog_compile(struct catalog *catalog, const char *text, const char *self, struct formula **out,
                    struct fault *fault);

void catalog_free_event(struct catalog_event *event);
void catalog_free_metric(struct catalog_metric *metric);
void catalog_free_group(struct catalog_group *group);
void catalog_free_node(struct catalog_node *node);

#endif
