// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_ENTRY_H
#define TOPDOWND_CORE_SPEC_CATALOG_ENTRY_H

// What every entry of a catalog is made of, and how it is freed. For the files of catalog.h and catalog_builder.h.

#include "core/spec/catalog.h"

enum { CATALOG_NAME_MAX = 120 };

// strdup, and "" for NULL.
char *catalog_entry_copy(const char *text);

// Room for one more zeroed item in an array of n; NULL where memory is short. Arrays grow by doubling.
void *catalog_entry_grow(void **array, size_t n, size_t size);

// Refuses names that are not printable, too long, or (`exists`) there already.
int catalog_entry_check_name(const char *kind, const char *name, bool exists, struct fault *fault);

// Each frees what the entry owns, also where it is half built.
void catalog_entry_free_event(struct catalog_event *event);
void catalog_entry_free_metric(struct catalog_metric *metric);
void catalog_entry_free_group(struct catalog_group *group);
void catalog_entry_free_node(struct catalog_node *node);
void catalog_entry_free_level1(struct catalog_level1 *level1);

#endif
