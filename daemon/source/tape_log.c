// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/tape_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/perf_log/perf_log_event.h"
#include "daemon/base/log.h"

// A host with several core types counts on several core PMUs, and a recording is of one core type. So of such a log one
// PMU's events are taken: the one that --spec NAME@PMU names, or the one that the spec is of.

static const size_t LOG_MAX = (size_t)2 << 30;

enum { PMUS_TEXT_MAX = 256 };

// ---- core types ----

// True if the spec says that it is for this PMU alone: "cpu_atom", or "armv8_cortex_a53*".
static bool spec_names_pmu(const struct catalog *catalog, const char *pmu) {
    const char *name = catalog->product.pmu;
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == '*')
        return length > strlen("armv*") && strncmp(name, pmu, length - 1) == 0;
    return strcmp(name, pmu) == 0;
}

static int refuse_types(const struct tape *tape, char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1], size_t n,
                        const char *spec, struct errors *errors) {
    char text[PMUS_TEXT_MAX];
    size_t length = 0;
    for (size_t i = 0; i < n && length < sizeof text; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%.60s", i > 0 ? ", " : "", pmus[i]);
    return errors_add(errors, tape->path, 0, 0,
                      "holds counts of several core types (%s), and a replay plays one of them: name its spec and its "
                      "PMU, as in --spec %.60s@%.60s",
                      text, spec ? spec : "NAME", pmus[0]);
}

// Decides on the PMU of a log with several. `asked`: of the option, NULL if it names none.
static int choose_pmu(struct tape *tape, const struct catalog *catalog, const char *spec, const char *asked,
                      struct errors *errors) {
    char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1];
    size_t n = perf_log_core_pmus(tape->log.log, pmus);
    int found = -1;
    for (size_t i = 0; i < n; i++)
        if (asked ? strcmp(pmus[i], asked) == 0 : catalog && spec_names_pmu(catalog, pmus[i]))
            found = (int)i;
    if (asked && found < 0 && n == 1)
        return errors_add(errors, tape->path, 0, 0, "holds counts of the PMU %.60s alone: --spec %.60s without @%.60s",
                          pmus[0], spec, asked);
    if (asked && found < 0 && n > 0)
        return refuse_types(tape, pmus, n, spec, errors);
    if (asked && found < 0)
        return errors_add(errors, tape->path, 0, 0, "does not name the PMUs of its events: --spec %.60s without @%.60s",
                          spec, asked);
    if (n > 1 && found < 0)
        return refuse_types(tape, pmus, n, spec, errors);
    if (n > 1)
        (void)snprintf(tape->log.pmu, sizeof tape->log.pmu, "%s", pmus[found]);
    return 0;
}

// ---- the spec ----

static struct perf_log_request request_of(const struct tape *tape, const struct catalog *catalog, bool perfs_names) {
    return (struct perf_log_request){.name = tape->path,
                                     .log = tape->log.log,
                                     .catalog = catalog,
                                     .names = perfs_names ? tape->log.names : NULL,
                                     .pmu = tape->log.pmu[0] != '\0' ? tape->log.pmu : NULL};
}

// Finds the spec with the most of the log's events. The kernel's own events are known on every CPU, so the specs of
// these are taken only if no CPU's has an event of the log.
static int find_spec(const struct tape *tape, const struct specs *specs, struct catalog **out) {
    size_t most = 0, others = 0;
    bool kernels = true;
    int r = 0;
    for (size_t i = 0; i < specs->n && r != -ENOMEM; i++) {
        struct errors ignored = {0};
        struct catalog *catalog;
        r = specs_load(specs, specs->names[i], NULL, &ignored, &catalog);
        const struct perf_log_request request = request_of(tape, r == 0 ? catalog : NULL, false);
        bool kernel = r == 0 && strcmp(catalog->product.vendor, "Linux") == 0;
        size_t known = r == 0 ? perf_log_known(&request, kernel ? NULL : tape->log.names) : 0;
        if (known > 0 && (kernel == kernels ? known > most : kernels)) {
            most = known;
            others = 0;
            kernels = kernel;
            catalog_free(*out);
            *out = catalog;
        } else if (r == 0) {
            others += known == most && kernel == kernels;
            catalog_free(catalog);
        }
    }
    if (*out && others > 0)
        log_warning(
            "%s: %zu other specs have as many of its events as %s: if it is of another CPU, widths and meanings "
            "are wrong; say which CPU it is of with --spec",
            tape->path, others, (*out)->product.spec);
    return r == -ENOMEM ? r : 0;
}

// Of several core types in a log without --spec, none is better than the other.
static int load_spec(struct tape *tape, const char *option, const struct specs *specs, struct errors *errors,
                     struct catalog **out) {
    char name[PERF_LOG_NAME_MAX + 1];
    const char *at = option ? strchr(option, '@') : NULL;
    (void)snprintf(name, sizeof name, "%.*s", at ? (int)(at - option) : PERF_LOG_NAME_MAX, option ? option : "");
    int r = option ? specs_load(specs, name, NULL, errors, out) : 0;
    if (r == 0)
        r = choose_pmu(tape, *out, option ? name : NULL, at ? at + 1 : NULL, errors);
    return r == 0 && !option ? find_spec(tape, specs, out) : r;
}

// The log may also have the software events that every Linux host has. They say nothing of the CPU.
static int add_software(const struct specs *specs, struct errors *errors, struct catalog **catalog) {
    struct catalog_builder *builder;
    int r = specs_read(specs, (*catalog)->product.spec, NULL, errors, &builder);
    if (r < 0)
        return r;
    r = specs_add_software(specs, errors, builder);
    if (r < 0) {
        catalog_builder_free(builder);
        return r;
    }
    catalog_free(*catalog);
    *catalog = catalog_builder_finish(builder);
    return 0;
}

static int choose_spec(struct tape *tape, const char *name, const struct specs *specs, struct errors *errors,
                       struct catalog **out) {
    int r = load_spec(tape, name, specs, errors, out);
    if (r < 0)
        return r;
    struct perf_log_request request = request_of(tape, *out, true);
    if (!*out || perf_log_known(&request, NULL) == 0)
        return errors_add(errors, tape->path, 0, 0,
                          "holds no event of %s: say which CPU it is of with --spec, as in --spec neoverse-v2",
                          name ? name : "one CPU alone");
    r = add_software(specs, errors, out);
    if (r < 0)
        return r;
    tape->catalog = request.catalog = *out;
    size_t known = perf_log_known(&request, NULL);
    log_info("%s: %zu of its %zu events are in the spec %s%s; %zu lines hold no count", tape->path, known,
             tape->log.log->n_events, tape->catalog->product.spec,
             name ? "" : ", which has most of them (--spec names another)", tape->log.log->n_skipped);
    return 0;
}

// ---- the log ----

static int read_log(struct tape *tape, const char *data, struct errors *errors) {
    char path[DATA_PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/specs/perf/names.json", data);
    uint8_t *text;
    size_t length;
    int r = recording_file_read(tape->path, LOG_MAX, &text, &length);
    if (r == -EFBIG)
        return errors_add(errors, tape->path, 0, 0, "is a log of more than 2 GiB: replay it in parts");
    if (r < 0)
        return r == -ENOMEM ? r : errors_add(errors, tape->path, 0, 0, "cannot be read: %s", strerror(-r));
    r = perf_log_parse(tape->path, (const char *)text, length, errors, &tape->log.log);
    free(text);
    return r == 0 ? perf_names_load(path, errors, &tape->log.names) : r;
}

int tape_log_open(struct tape *tape, const struct tape_request *request, struct errors *errors, struct catalog **out) {
    int r = read_log(tape, request->data, errors);
    if (r == 0)
        r = choose_spec(tape, request->spec, request->specs, errors, out);
    if (r < 0)
        return r;
    const struct catalog_product *product = &tape->catalog->product;
    struct recording_header *header = &tape->header;
    (void)snprintf(header->catalog.spec, sizeof header->catalog.spec, "%.300s", product->spec);
    (void)snprintf(header->vendor, sizeof header->vendor, "%.300s", product->vendor);
    (void)snprintf(header->model, sizeof header->model, "%.300s", product->name);
    (void)snprintf(header->microarchitecture, sizeof header->microarchitecture, "%.300s", product->microarchitecture);
    (void)snprintf(header->core_type, sizeof header->core_type, "%s", tape->log.pmu);
    return 0;
}

int tape_log_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections,
                  struct errors *errors) {
    struct perf_log_request request = request_of(tape, tape->catalog, true);
    request.selections = selections;
    request.n_selections = n_selections;
    int r = perf_log_record(&request, errors, &tape->bytes);
    tape_log_deinit(&tape->log);
    return r;
}

void tape_log_deinit(struct tape_log *log) {
    log->log = perf_log_free(log->log);
    log->names = perf_names_free(log->names);
}
