// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/source/source_recording.h"
#include "daemon/uncore/uncore_chosen.h"
#include "daemon/uncore/uncore_source.h"

// The boxes of a recording, with the specs of this machine, as it is with cores. Two kinds may tell the same traffic,
// at different times, and the recording says itself which metrics were measured.

static int refuse(const struct tape *tape, const struct recording_header *header, struct errors *errors) {
    return errors_add(errors, tape->path, 0, 0,
                      "was recorded with the spec '%.100s' of PMUs outside the cores (%.60s), which is not among those "
                      "here",
                      header->catalog.spec, header->pmu);
}

static int read_spec(const struct setup *setup, const struct tape *tape, const struct recording_header *header,
                     struct errors *errors, struct catalog **out) {
    const char *spec = header->catalog.spec;
    struct catalog_builder *builder;
    char path[DATA_PATH_MAX + 512];
    (void)snprintf(path, sizeof path, "%s/specs/uncore/%.200s.json", setup->data, spec);
    if (strchr(spec, '/') || !setup_file_exists(path))
        return refuse(tape, header, errors);
    int r = uncore_read_spec(setup, spec, errors, &builder);
    const struct catalog *catalog = r == 0 ? catalog_builder_catalog(builder) : NULL;
    if (r == 0 && catalog_hash(catalog) != header->catalog.hash) // earlier versions' specs marked all events of boxes
        catalog_builder_set_may_be_zero(builder, NULL, 0, true);
    if (r == 0 && catalog_hash(catalog) != header->catalog.hash)
        catalog_builder_set_may_be_zero(builder, NULL, 0, false);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    return r;
}

// The recording itself has what no shipped spec has: catalogs of the vendor's files, and of what a configuration has
// chosen, which in version 5 it told in few words.
static int make_catalog(const struct setup *setup, struct tape *tape, const struct recording_header *header,
                        struct errors *errors, struct catalog **out) {
    struct recording_definition definition;
    int found = tape_catalog(tape, header, errors, out);
    if (found != 0)
        return found < 0 ? found : 0;
    if (tape_definition(tape, header->pmu, &definition) == 0)
        return read_spec(setup, tape, header, errors, out);
    int r = uncore_chosen_recorded(header->catalog.spec, &definition, out);
    recording_definition_deinit(&definition);
    return r == -EINVAL ? refuse(tape, header, errors) : r;
}

static int add_kind(struct setup *setup, struct tape *tape, const struct recording_header *header,
                    const struct options *options, struct errors *errors) {
    struct catalog *catalog;
    struct topology *boxes = NULL;
    struct source *source;
    int r = make_catalog(setup, tape, header, errors, &catalog);
    if (r == 0)
        r = source_recording_boxes(tape, header, catalog, errors, &source);
    if (r < 0)
        return r;
    uncore_describe(source, source->pmu_name, options);
    r = source_topology(source, NULL, errors, &boxes);
    if (r < 0) {
        source_free(source);
        return r;
    }
    setup->types[setup->n_types + setup->n_boxes++] = (struct core_type){.source = source, .topology = boxes};
    return 0;
}

static int tell_missing(struct tape *tape) {
    char(*names)[RECORDING_TEXT_MAX + 1] = calloc(SETUP_TYPES_MAX, sizeof *names);
    size_t n = names ? tape_missing(tape, names, SETUP_TYPES_MAX) : 0;
    for (size_t i = 0; i < n; i++)
        log_warning("%s: %.60s was measured then with the vendor's files, and recordings of version 5 do not hold "
                    "that: it is not replayed",
                    tape->path, names[i]);
    int r = names ? 0 : -ENOMEM;
    free(names);
    return r;
}

int uncore_replay_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    struct tape *tape = source_recording_tape(setup->types[0].source);
    struct recording_header *headers = calloc(SETUP_TYPES_MAX, sizeof *headers);
    int n = headers ? tape_boxes(tape, headers, SETUP_TYPES_MAX - setup->n_types) : -ENOMEM, r = n;
    for (int i = 0; i < n && r >= 0; i++)
        r = add_kind(setup, tape, &headers[i], options, errors);
    free(headers);
    if (r >= 0 && tape->header.first_type[0] != '\0')
        log_info("%s: what the host counted beside its cores, such as its memory controllers, is in the recording of "
                 "its core type %.60s",
                 tape->path, tape->header.first_type);
    return r < 0 ? r : tell_missing(tape);
}
