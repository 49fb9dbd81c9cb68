// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_UNCORE_SPECS_H
#define TOPDOWND_CONFIG_SPEC_UNCORE_SPECS_H

// All shipped specs of PMUs outside the cores, for questions that no host answers.

#include "core/base/error.h"
#include "core/spec/catalog.h"

// Shows the catalog of each spec that specs/uncore/kinds.json below the folder `specs` names. It is freed afterwards.
// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
typedef void uncore_specs_look(const struct catalog *catalog, void *context);
int uncore_specs_each(const char *specs, uncore_specs_look *look, void *context, struct errors *errors);

// True if one of them has a metric group of this name.
bool uncore_specs_have_group(const char *specs, const char *name);

#endif
