// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_UNCORE_KINDS_JSON_H
#define TOPDOWND_CONFIG_SPEC_UNCORE_KINDS_JSON_H

// Reads specs/uncore/kinds.json, which says which kinds of PMUs outside the cores a CPU's host may have: docs/specs.md,
// "Outside the cores".

#include "core/base/error.h"
#include "core/uncore/uncore.h"

// One row of the file becomes a kind for each of its CPUs and names of PMUs, in the file's order. Returns 0, -EINVAL
// with the mistakes in `errors`, -ENOMEM. Free *out with uncore_kinds_json_deinit; it is untouched on failure.
int uncore_kinds_json_load(const char *path, struct errors *errors, struct uncore_kinds *out);
int uncore_kinds_json_parse(const char *name, const char *text, size_t length, struct errors *errors,
                            struct uncore_kinds *out);
void uncore_kinds_json_deinit(struct uncore_kinds *kinds);

#endif
