// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/tape_spec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/perf_log/perf_log_event.h"
#include "core/host/identify.h"
#include "daemon/base/log.h"

// A host with several core types counts on several core PMUs, and a recording is of one core type. So of such a log one
// PMU's events are taken: the one that --spec NAME@PMU names, or the only one that the spec is for. specs/cpus.json
// says which spec is for which PMU; other pairs are refused.
//
// Without --spec the events of the log choose. The spec with the most of them is taken; the kernel's own events, which
// every CPU has, only if no CPU's spec has any. Of several with equally many, the one that is for all CPUs of a PMU is
// taken, since its metrics mean the same on each of them. If there is no such spec the log is refused. A spec for CPUs
// whose kernel shows certain events is considered only if the log has all of these.

enum { LIST_MAX = 240 };

struct core_pmus {
    char names[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1];
    size_t n;
};

struct perf_log_request tape_spec_request(const struct tape *tape, const struct catalog *catalog, bool perfs_names) {
    return (struct perf_log_request){.name = tape->path,
                                     .log = tape->log.log,
                                     .catalog = catalog,
                                     .names = perfs_names ? tape->log.names : NULL,
                                     .pmu = tape->log.pmu[0] != '\0' ? tape->log.pmu : NULL};
}

static bool is_kernels(const struct catalog *catalog) { return strcmp(catalog->product.vendor, "Linux") == 0; }

// Appends a name to a list for people, which ends in "..." if it is too long.
static void list_add(char list[LIST_MAX], const char *name) {
    size_t length = strlen(list);
    bool more = length > 0, room = length + strlen(name) + 8 < LIST_MAX;
    if (length > 3 && strcmp(list + length - 3, "...") == 0)
        return;
    (void)snprintf(list + length, LIST_MAX - length, "%s%s", more ? ", " : "", room ? name : "...");
}

// ---- core types ----

static bool fits_pmu(const struct specs *specs, const struct catalog *catalog, const char *pmu) {
    return is_kernels(catalog) || cpu_map_fits_pmu(&specs->cpus, catalog->product.spec, pmu);
}

static int refuse_types(const struct tape *tape, const struct core_pmus *pmus, const char *spec,
                        struct errors *errors) {
    char list[LIST_MAX] = "";
    for (size_t i = 0; i < pmus->n; i++)
        list_add(list, pmus->names[i]);
    return errors_add(errors, tape->path, 0, 0,
                      "holds counts of several core types (%s), and a replay plays one of them: name its spec and its "
                      "PMU, as in --spec %.60s@%.60s",
                      list, spec ? spec : "NAME", pmus->names[0]);
}

// The spec is for none of the log's PMUs, or not for the one that was asked for.
static int refuse_pair(const struct tape *tape, const struct specs *specs, const char *spec, const char *pmu,
                       struct errors *errors) {
    char list[LIST_MAX] = "";
    for (size_t i = 0; i < specs->n; i++)
        if (cpu_map_fits_pmu(&specs->cpus, specs->names[i], pmu) && strcmp(specs->names[i], SPEC_SOFTWARE) != 0)
            list_add(list, specs->names[i]);
    return errors_add(errors, tape->path, 0, 0, "the spec %.60s is not for CPUs of the PMU %.60s; these are: %s", spec,
                      pmu, list);
}

// The PMU that --spec NAME@PMU asks for.
static int take_asked(struct tape *tape, const struct core_pmus *pmus, const char *spec, const char *asked,
                      struct errors *errors) {
    for (size_t i = 0; i < pmus->n; i++) {
        if (strcmp(pmus->names[i], asked) != 0)
            continue;
        (void)snprintf(tape->log.pmu, sizeof tape->log.pmu, "%s", pmus->n > 1 ? asked : "");
        return 0;
    }
    if (pmus->n > 1)
        return refuse_types(tape, pmus, spec, errors);
    return pmus->n == 1 ? errors_add(errors, tape->path, 0, 0,
                                     "holds counts of the PMU %.60s alone: --spec %.60s without @%.60s", pmus->names[0],
                                     spec, asked)
                        : errors_add(errors, tape->path, 0, 0,
                                     "does not name the PMUs of its events: --spec %.60s without @%.60s", spec, asked);
}

// Decides on the PMU of the spec that --spec names.
static int choose_pmu(struct tape *tape, const struct specs *specs, const struct catalog *catalog, const char *asked,
                      struct errors *errors) {
    struct core_pmus pmus;
    const char *spec = catalog->product.spec, *fitting = NULL;
    size_t n_fitting = 0;
    pmus.n = perf_log_core_pmus(tape->log.log, pmus.names);
    if (asked) {
        int r = take_asked(tape, &pmus, spec, asked, errors);
        return r == 0 && !fits_pmu(specs, catalog, asked) ? refuse_pair(tape, specs, spec, asked, errors) : r;
    }
    for (size_t i = 0; i < pmus.n; i++) {
        if (!fits_pmu(specs, catalog, pmus.names[i]))
            continue;
        fitting = pmus.names[i];
        n_fitting++;
    }
    if (n_fitting > 1)
        return refuse_types(tape, &pmus, spec, errors);
    if (n_fitting == 1 && pmus.n > 1)
        (void)snprintf(tape->log.pmu, sizeof tape->log.pmu, "%s", fitting);
    return pmus.n > 0 && n_fitting == 0 ? refuse_pair(tape, specs, spec, pmus.names[0], errors) : 0;
}

// ---- the spec ----

struct choice {
    struct catalog *catalog; // NULL: no spec has an event of the log
    size_t known;            // of its events
    bool kernels, generic;
    size_t n_alike;       // specs that are as good as this one
    char alike[LIST_MAX]; // their names
};

// More than 0: a is the better one; 0: they are alike.
static int compare(const struct choice *a, const struct choice *b) {
    if (a->kernels != b->kernels)
        return a->kernels ? -1 : 1;
    if (a->known != b->known)
        return a->known > b->known ? 1 : -1;
    return a->generic - b->generic;
}

static bool log_has(const struct perf_log_request *request, const char *name) {
    int wanted = catalog_find_event(request->catalog, name);
    for (size_t e = 0; e < request->log->n_events; e++)
        if (wanted >= 0 && perf_log_find_event(request->catalog, request->names, request->log->events[e]) == wanted)
            return true;
    return false;
}

// True unless the row is for CPUs whose kernel shows events that the log lacks.
static bool shows_all(const struct perf_log_request *request, const struct cpu_row *generic) {
    size_t shown = 0;
    while (generic && shown < generic->n_shows && log_has(request, generic->shows[shown]))
        shown++;
    return !generic || shown == generic->n_shows;
}

// Takes ownership of the catalog.
static void weigh(const struct tape *tape, const struct specs *specs, struct catalog *catalog, struct choice *best) {
    const struct perf_log_request request = tape_spec_request(tape, catalog, false);
    const char *name = catalog->product.spec;
    const struct cpu_row *generic = cpu_map_find_generic(&specs->cpus, name);
    struct choice choice = {.catalog = catalog, .kernels = is_kernels(catalog), .n_alike = 1};
    choice.known = shows_all(&request, generic) ? perf_log_known(&request, choice.kernels ? NULL : tape->log.names) : 0;
    choice.generic = generic != NULL;
    int better = choice.known == 0 ? -1 : !best->catalog ? 1 : compare(&choice, best);
    if (better > 0) {
        catalog_free(best->catalog);
        *best = choice;
        list_add(best->alike, name);
        return;
    }
    if (better == 0) {
        best->n_alike++;
        list_add(best->alike, name);
    }
    catalog_free(catalog);
}

// Without --spec: of several core types in a log none is better than the other.
static int find_spec(const struct tape *tape, const struct specs *specs, struct errors *errors, struct catalog **out) {
    struct core_pmus pmus;
    struct choice best = {.catalog = NULL};
    int r = 0;
    pmus.n = perf_log_core_pmus(tape->log.log, pmus.names);
    if (pmus.n > 1)
        return refuse_types(tape, &pmus, NULL, errors);
    for (size_t i = 0; i < specs->n && r != -ENOMEM; i++) {
        struct errors ignored = {0};
        struct catalog *catalog = NULL;
        r = specs_load(specs, specs->names[i], NULL, &ignored, &catalog);
        if (r == 0 && (pmus.n == 0 || fits_pmu(specs, catalog, pmus.names[0])))
            weigh(tape, specs, catalog, &best);
        else
            catalog_free(catalog);
    }
    *out = best.catalog;
    if (r == -ENOMEM || best.n_alike <= 1)
        return r == -ENOMEM ? r : 0;
    return errors_add(errors, tape->path, 0, 0,
                      "holds events of several specs alike (%s): say which CPU it is of, as in --spec %.60s",
                      best.alike, best.catalog->product.spec);
}

static int load_spec(struct tape *tape, const char *option, const struct specs *specs, struct errors *errors,
                     struct catalog **out) {
    char name[PERF_LOG_NAME_MAX + 1];
    const char *at = strchr(option, '@');
    (void)snprintf(name, sizeof name, "%.*s", at ? (int)(at - option) : PERF_LOG_NAME_MAX, option);
    int r = specs_load(specs, name, NULL, errors, out);
    return r == 0 ? choose_pmu(tape, specs, *out, at ? at + 1 : NULL, errors) : r;
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

// True for an event that another core PMU counted.
static bool is_of_other_pmu(const struct perf_log_request *request, const char *event) {
    size_t length = request->pmu ? strlen(request->pmu) : 0;
    return request->pmu && strchr(event, '/') && !(strncmp(event, request->pmu, length) == 0 && event[length] == '/');
}

static void report(const struct perf_log_request *request, const char *option) {
    char others[LIST_MAX] = "";
    for (size_t e = 0; e < request->log->n_events; e++) {
        const char *event = request->log->events[e];
        if (!is_of_other_pmu(request, event) && perf_log_find_event(request->catalog, request->names, event) < 0)
            list_add(others, event);
    }
    log_info("%s: %zu of its %zu events are in the spec %s%s%s%s; %zu lines hold no count", request->name,
             perf_log_known(request, NULL), request->log->n_events, request->catalog->product.spec,
             option ? "" : ", which has most of them (--spec names another)",
             others[0] != '\0' ? "; not matched: " : "", others, request->log->n_skipped);
}

int tape_spec_choose(struct tape *tape, const char *option, const struct specs *specs, struct errors *errors,
                     struct catalog **out) {
    int r = option ? load_spec(tape, option, specs, errors, out) : find_spec(tape, specs, errors, out);
    if (r < 0)
        return r;
    struct perf_log_request request = tape_spec_request(tape, *out, true);
    if (!*out || perf_log_known(&request, NULL) == 0)
        return errors_add(errors, tape->path, 0, 0,
                          "holds no event of %s: say which CPU it is of with --spec, as in --spec neoverse-v2",
                          option ? option : "one CPU alone");
    r = add_software(specs, errors, out);
    if (r < 0)
        return r;
    tape->catalog = request.catalog = *out;
    report(&request, option);
    return 0;
}
