// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_ENTRY_H
#define TOPDOWND_CORE_SPEC_CATALOG_ENTRY_H

// Building blocks of a catalog's entries, and their destruction. For the files of catalog.h and catalog_builder.h.

#include "core/spec/catalog.h"

enum { CATALOG_NAME_MAX = 120 };

// strdup; "" for NULL.
char *catalog_entry_copy(const char *text);

// Makes room for one more zeroed item in an array of n; NULL if out of memory. Arrays grow by doubling.
void *catalog_entry_grow(void **array, size_t n, size_t size);

// Refuses names that are not printable, too long, or (`exists`) duplicates.
int catalog_entry_check_name(const char *kind, const char *name, bool exists, struct fault *fault);

// Each frees what the entry owns, even if it is half built.
void catalog_entry_free_event(struct catalog_event *event);
void catalog_entry_free_metric(struct catalog_metric *metric);
void catalog_entry_free_group(struct catalog_group *group);
void catalog_entry_free_node(struct catalog_node *node);
void catalog_entry_free_level1(struct catalog_level1 *level1);

#endif
