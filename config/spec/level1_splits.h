// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_LEVEL1_SPLITS_H
#define TOPDOWND_CONFIG_SPEC_LEVEL1_SPLITS_H

// A vendor's files do not say how level 1 is measured on too few counters: splits that are known of its cores are
// offered.

#include <cjson/cJSON.h>

#include "core/spec/catalog_builder.h"

// `splits` is a list of splits as a spec's level1.split has them, NULL for none. Events that the catalog does not have
// are left out of a part, and parts of one event out of a split; the first split that is whole then is taken. Where
// none is, or level 1 has one already, nothing changes. What is no list of names counts as not whole.
void level1_splits_offer(const cJSON *splits, struct catalog_builder *builder);

#endif
