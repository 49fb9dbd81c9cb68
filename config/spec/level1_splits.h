// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_LEVEL1_SPLITS_H
#define TOPDOWND_CONFIG_SPEC_LEVEL1_SPLITS_H

// A vendor's files do not say how to measure level 1 on too few counters. This offers known splits for its cores.

#include <cjson/cJSON.h>

#include "core/spec/catalog_builder.h"

// `splits` is a list of splits in the form of a spec's level1.split; NULL: none. Events that the catalog lacks are left
// out of a part, and parts of one event out of a split. The first split that is then complete is taken; anything but a
// list of names is incomplete. Nothing changes if there is none or level 1 already has a split.
void level1_splits_offer(const cJSON *splits, struct catalog_builder *builder);

#endif
