// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_SPEC_FAMILY_H
#define TOPDOWND_CONFIG_SPEC_SPEC_FAMILY_H

// Specs of related CPUs share entries: events, metrics and metric groups. A spec with the key "family" names its
// entries in its own order, and writes only what differs from those of families/FAMILY.json beside it (docs/specs.md,
// "Families"). Here both become one document in the form of a whole spec, before anyone reads it.

#include "config/json/json_reader.h"

// A family's text, where it is not that of a file.
struct spec_family_text {
    const char *text;
    size_t length;
};

struct spec_family_values {
    const cJSON **items;
    size_t n, room;
};

// Where the values of a merged document were written. It must outlive the reader's last error.
struct spec_family {
    char *path;                        // of the family's file; NULL: the spec has none
    struct spec_family_values entries; // of the document, that the family's file defines
    struct spec_family_values patches; // what the spec puts into them
    struct spec_family_values changed; // the objects that it puts something into, or takes something out of
};

// Makes `document`, of the reader's file, whole; nothing changes if it has no family. `given`: the family's text
// instead of its file; NULL: the file. From then on the reader's errors name the file in which the value stands.
// Returns the reader's status: 0, -EINVAL with the mistakes in its errors, -ENOMEM; the document is then of no use.
// Free *family with spec_family_deinit in any case.
int spec_family_merge(struct json_reader *reader, cJSON *document, const struct spec_family_text *given,
                      struct spec_family *family);
void spec_family_deinit(struct spec_family *family);

#endif
