// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_SPEC_JSON_H
#define TOPDOWND_CONFIG_SPEC_SPEC_JSON_H

// Reads a spec: Arm's machine-readable specification v1.0, as published, with the extensions of docs/specs.md, which
// stand in objects named "topdownd" so that one schema serves every vendor.

#include "core/base/error.h"
#include "core/spec/catalog_builder.h"

enum { SPEC_FILE_MAX = 16 << 20, SPEC_DEPTH_MAX = 64 };

// `environment` is what the formulas are compiled for; NULL: environment_init's. Returns 0, -EINVAL with what is wrong
// in `errors`, -ENOMEM. The spec's name is the file's without folder and ".json".
int spec_json_load(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog **out);
int spec_json_parse(const char *name, const char *text, size_t length, const struct environment *environment,
                    struct errors *errors, struct catalog **out);

// The same, to be bound to a host before it is finished.
int spec_json_read(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog_builder **out);

// A vendor's own file, which says nothing of the counters, nor what level 1 is made of: where it has no object
// "topdownd", that of the file `defaults` stands in, as far as it fits (docs/specs.md). What is wrong with entries is
// added to `errors` and costs what needs them; -EINVAL is for files that are no spec at all.
int spec_json_load_vendor(const char *path, const char *defaults, const struct environment *environment,
                          struct errors *errors, struct catalog **out);
int spec_json_read_vendor(const char *path, const char *defaults, const struct environment *environment,
                          struct errors *errors, struct catalog_builder **out);
int spec_json_parse_vendor(const char *name, const char *text, size_t length, const char *defaults,
                           const struct environment *environment, struct errors *errors, struct catalog **out);

#endif
