// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_CATALOG_SAME_H
#define TOPDOWND_CORE_SPEC_CATALOG_SAME_H

#include "core/spec/catalog.h"

// True if both catalogs say the same of the same host: made from equal specs, encoded alike, compiled for the same
// facts (other than the PMU's answers to formulas, which the caller compares). An index into one is then valid in the
// other.
bool catalog_same(const struct catalog *a, const struct catalog *b);

#endif
