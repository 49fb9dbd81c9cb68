// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_BUILD_SHIPPED_H
#define TOPDOWND_TESTS_BUILD_SHIPPED_H

// Catalogs of the specs that ship, each with the software events, of a host with SMT.

#include <cjson/cJSON.h>

#include "core/spec/catalog.h"

// Returns the catalog, which the caller frees.
struct catalog *shipped_load(const char *path);

// A spec of cores as a document, with what it has of its family. Returns it, for cJSON_Delete.
cJSON *shipped_json(const char *path);

// Checks the catalog of every spec of cores. Frees it afterwards.
void shipped_for_every_cpu(void (*check)(struct catalog *catalog));

#endif
