// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_recording.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_file.h"

struct source_recording {
    struct source source; // first
    struct tape *tape;
};

static struct source_recording *of(struct source *source) { return (struct source_recording *)source; }

static int recording_load(struct source *source, const struct plan_selection *selections, size_t n_selections,
                          struct errors *errors) {
    const struct tape *tape = of(source)->tape;
    int r = tape_load(of(source)->tape, selections, n_selections, errors);
    source->past.adaptive = tape->adaptive;
    source->past.plan = tape->plan;
    return r;
}

// The recorded topology, regardless of the selection here.
static int recording_topology(struct source *source, const struct cpuset *selected, struct errors *errors,
                              struct topology **out) {
    (void)selected;
    (void)errors;
    *out = topology_copy(of(source)->tape->topology);
    return *out ? 0 : -ENOMEM;
}

// The other facts are those in force at the recording's beginning.
static void recording_describe(const struct source *source, char *out, size_t size) {
    const struct tape *tape = ((const struct source_recording *)source)->tape;
    const struct recording_header *header = &tape->header;
    char begun[VIEW_TIME_MAX];
    if (tape_is_log(tape))
        (void)snprintf(out, size, "replay of %s, a log of perf", tape->path);
    else if (view_time(header->timestamp_seconds, begun))
        (void)snprintf(out, size,
                       "replay of %s, recorded by topdownd %s from %s on; the profiles of the configuration do not "
                       "change what it shows",
                       tape->path, header->version, begun);
}

static void recording_deinit(struct source *source) { tape_free(of(source)->tape); }

static const struct source_driver DRIVER = {
    .load = recording_load, .topology = recording_topology, .describe = recording_describe, .deinit = recording_deinit};

struct tape *source_recording_tape(struct source *source) {
    assert(source->driver == &DRIVER);
    return of(source)->tape;
}

// ---- filling ----

static const char *said(const char *text) { return text[0] != '\0' ? text : NULL; }

static void fill(struct source *source, const struct recording_header *header) {
    source->replayed = true;
    source->past.hostname = said(header->hostname);
    source->past.profile = said(header->profile);
    source->past.version = said(header->version);
    source->past.first_type = said(header->first_type);
    source->pmu_name = "replay";
    source->simulated = header->simulated;
    source->exclude_guest = header->guests_excluded;
    source->microarchitecture = header->microarchitecture;
    source->general_counters = source->catalog->general_counters;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->vendor);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->model);
    if (header->core_type[0] != '\0')
        source_name_type(source, header->core_type);
}

int source_recording_find(const struct source_request *request, struct errors *errors,
                          struct source *out[SOURCE_TYPES_MAX], size_t *n) {
    const struct options *options = request->options;
    struct source_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return -ENOMEM;
    struct source *source = &recording->source;
    source->driver = &DRIVER;
    source->roots =
        (struct host_roots){.sysfs = options->paths.sysfs, .procfs = options->paths.procfs, .kept = host_files_new()};
    out[(*n)++] = source;
    const struct tape_request tape = {.path = options->replay.path,
                                      .spec = options->spec,
                                      .specs = request->specs,
                                      .vendor = request->vendor,
                                      .data = request->data};
    int r = tape_open(&tape, errors, &source->catalog, &recording->tape);
    if (r < 0)
        return r;
    fill(source, &recording->tape->header);
    return source_make_support(source, PLAN_SUPPORT_UNKNOWN);
}

int source_recording_boxes(const struct tape *of, const struct recording_header *header, struct catalog *catalog,
                           struct errors *errors, struct source **out) {
    struct source_recording *recording = calloc(1, sizeof *recording);
    if (!recording) {
        catalog_free(catalog);
        return -ENOMEM;
    }
    recording->source.driver = &DRIVER;
    recording->source.catalog = catalog;
    int r = tape_open_boxes(of, header, catalog, &recording->tape);
    if (r == 0) {
        tape_compare_catalog(recording->tape);
        fill(&recording->source, &recording->tape->header);
        recording->source.pmu_name = recording->tape->header.pmu;
        r = source_make_support(&recording->source, PLAN_SUPPORT_UNKNOWN);
    }
    if (r == 0)
        r = source_load(&recording->source, NULL, 0, errors);
    if (r < 0)
        source_free(&recording->source);
    else
        *out = &recording->source;
    return r;
}
