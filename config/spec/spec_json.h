// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_SPEC_JSON_H
#define TOPDOWND_CONFIG_SPEC_SPEC_JSON_H

// Reads a spec: Arm's machine-readable specification v1.0, as published, with the extensions of docs/specs.md. The
// extensions are in objects named "topdownd", so that one schema serves every vendor.

#include "core/base/error.h"
#include "core/spec/catalog_builder.h"

enum { SPEC_FILE_MAX = 16 << 20, SPEC_DEPTH_MAX = 64 };

// Formulas are compiled for `environment`; NULL: environment_init's. Returns 0, -EINVAL with the mistakes in `errors`,
// -ENOMEM. The spec's name is the file's without folder and ".json"; its family is in the folder beside it
// (spec_family.h).
int spec_json_load(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog **out);
int spec_json_parse(const char *name, const char *text, size_t length, const struct environment *environment,
                    struct errors *errors, struct catalog **out);

// spec_json_parse with the text of the spec's family, whatever its name.
struct spec_family_text;
int spec_json_parse_with(const char *name, const char *text, size_t length, const struct spec_family_text *family,
                         const struct environment *environment, struct errors *errors, struct catalog **out);

// Writes the spec out as one file, with all entries of its family: to read, or to begin an own one with. Returns 0 and
// a text for free(), -EINVAL with the mistakes in `errors`, -ENOMEM.
int spec_json_print(const char *path, struct errors *errors, char **out);

// The same, to be bound to a host before it is finished.
int spec_json_read(const char *path, const struct environment *environment, struct errors *errors,
                   struct catalog_builder **out);

// Adds to a catalog what every host has beside its core PMU: events, metrics and metric groups of another spec, whose
// PMU is that spec's own (specs/software.json). Its methodology and counters are left out, and so are entries whose
// names the catalog has. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int spec_json_add(const char *path, struct errors *errors, struct catalog_builder *builder);

// A vendor's own file, which describes neither the counters nor level 1. If it has no object "topdownd", the applicable
// parts of that object in the file `defaults` replace it (docs/specs.md). An invalid entry is added to `errors` and
// disables only what depends on it; -EINVAL is for files that are not a spec at all. The builder is to be bound to a
// host before it is finished.
int spec_json_read_vendor(const char *path, const char *defaults, const struct environment *environment,
                          struct errors *errors, struct catalog_builder **out);
// Arm's own file for a mesh, which has a specification for each type of node, with metrics over them. What needs events
// that Linux cannot count (watchpoints at single nodes) is listed with the reason. -EINVAL if the file is of no mesh.
struct spec_mesh_nodes {
    bool (*has)(const void *context, const char *node); // true if the mesh has nodes of the type "HNF"
    const void *context;
};
int spec_json_read_mesh(const char *path, const struct spec_mesh_nodes *nodes, struct errors *errors,
                        struct catalog_builder **out); // nodes == NULL: all types

int spec_json_parse_vendor(const char *name, const char *text, size_t length, const char *defaults,
                           const struct environment *environment, struct errors *errors, struct catalog **out);

#endif
