// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_EARLIER_JSON_H
#define TOPDOWND_CONFIG_SPEC_EARLIER_JSON_H

// Reads what specs of earlier versions said and those of this one do not (specs/neutral/earlier.json), for catalogs of
// recordings.

#include <stdbool.h>

#include "core/base/error.h"
#include "core/spec/catalog_builder.h"

// Marks the events that may be zero, as specs did until the version in which a 0 became a 0; with `mark` false, clears
// the marks. Nothing happens without the file, as in a data folder of earlier versions. Returns 0, -EINVAL with the
// reason in `errors`, -ENOMEM.
int earlier_json_mark(const char *path, bool mark, struct errors *errors, struct catalog_builder *builder);

#endif
