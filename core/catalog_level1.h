// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_CATALOG_LEVEL1_H
#define TOPDOWND_CORE_CATALOG_LEVEL1_H

// What catalog.c and catalog_level1.c share.

#include "core/catalog.h"

// Fills *error and returns -EINVAL.
int catalog_fail(struct catalog_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Compiles a formula over the catalog's events; one that names no event is refused.
int catalog_compile(struct catalog *catalog, const char *text, struct formula **out, struct catalog_error *error);

#endif
