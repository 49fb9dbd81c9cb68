// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/reload.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/run/load.h"
#include "daemon/source/source_continue.h"
#include "daemon/uncore/uncore_setup.h"

static int load(const struct options *options, const struct setup *present, struct errors *errors, struct setup **out) {
    struct setup *setup;
    if (present->types[0].source->replayed)
        return errors_add(errors, NULL, 0, 0,
                          "a replay shows what was recorded: start another one to show it with another configuration");
    int r = load_setup(options, errors, &setup);
    if (r < 0)
        return r;
    r = load_compare(present, setup, errors);
    if (r == 0)
        r = uncore_continue(setup, present);
    if (r < 0)
        load_free(setup);
    else
        *out = setup;
    return r;
}

int reload_load(struct reload *reload, const struct options *options, const struct setup *present, struct self *self,
                struct errors *errors) {
    struct setup *setup = NULL;
    self_step_begin(self);
    int r = load(options, present, errors, &setup);
    self_change_end(self, 0, 0);
    reload->refused = r < 0;
    if (r < 0)
        return r;
    load_free(reload->next);
    *reload = (struct reload){.next = setup, .asked_ns = clocks_now_ns()};
    return 0;
}

static bool same_boxes(const struct setup *a, const struct setup *b) {
    bool same = load_same_kinds(a, b);
    for (size_t i = a->n_types; same && i < a->n_types + a->n_boxes; i++)
        same = source_same(a->types[i].source, b->types[i].source);
    return same;
}

// True if the same CPUs read all boxes.
static bool same_readers(const struct setup *a, const struct setup *b) {
    bool same = true;
    for (size_t i = a->n_types; same && i < a->n_types + a->n_boxes; i++) {
        const struct topology *x = a->types[i].topology, *y = b->types[i].topology;
        same = x->n_box_facts == y->n_box_facts;
        for (size_t k = 0; same && k < x->n_box_facts; k++)
            same = x->box_facts[k].cpu == y->box_facts[k].cpu;
    }
    return same;
}

int reload_look(struct reload *reload, const struct options *options, const struct setup *present, struct self *self) {
    struct errors errors = {0};
    struct reload looked = {.next = NULL};
    int r = reload_load(&looked, options, present, self, &errors);
    if (r < 0) {
        log_errors(&errors);
        log_warning("this host has other PMUs outside its cores than before, which are not measured: topdownd goes on "
                    "as before");
        return r;
    }
    bool other_files = looked.next->config->hash != present->config->hash;
    bool same = same_boxes(present, looked.next);
    if (other_files || (same && same_readers(present, looked.next))) {
        if (other_files)
            log_info("this host has other PMUs outside its cores than before, and other files of the configuration: "
                     "reload topdownd to put both into force");
        reload_deinit(&looked);
        return 0;
    }
    log_info(same ? "other CPUs than before read this host's PMUs outside its cores"
                  : "this host has other PMUs outside its cores than before");
    *reload = looked;
    reload->looked = true;
    return 1;
}

bool reload_is_due(const struct reload *reload, uint64_t now_ns) {
    return reload->next && (reload->round_over || now_ns - reload->asked_ns > RELOAD_WAIT_NS);
}

// ---- engines ----

static size_t n_types(const struct setup *setup) { return setup->n_types + setup->n_boxes; }

// The present type that goes on as type `i` of what waits; -1: none, it is a kind that was not measured so far. Core
// types are the same (load_compare).
static int present_of(const struct setup *present, const struct setup *next, size_t i) {
    if (i < next->n_types)
        return (int)i;
    for (size_t k = present->n_types; k < n_types(present); k++)
        if (strcmp(present->types[k].source->pmu_name, next->types[i].source->pmu_name) == 0)
            return (int)k;
    return -1;
}

// Makes the engine of a kind that was not measured so far. Its first step makes its plan.
static int make(struct reload *reload, const struct reload_engines *present, size_t i, uint64_t now_ns,
                struct errors *errors) {
    struct snapshot *snapshot = NULL;
    uint64_t deadline_ns;
    int r = engine_new(reload->next, &reload->next->types[i], present->self, present->newest, present->engines->of[0],
                       now_ns, errors, &reload->engines[i]);
    if (r < 0)
        return r;
    reload->made[i] = true;
    r = reload->engines[i]->ops->step(reload->engines[i], now_ns, &deadline_ns, &snapshot);
    snapshot_unref(snapshot);
    return r;
}

// Gives up what was prepared of the first `n` types.
static void abandon(struct reload *reload, size_t n) {
    while (n > 0) {
        struct engine *engine = reload->engines[--n];
        if (reload->made[n] && engine)
            engine->ops->free(engine);
        else if (engine)
            engine->ops->abandon(engine);
        reload->engines[n] = NULL;
        reload->made[n] = false;
    }
}

static int prepare(struct reload *reload, const struct reload_engines *present, size_t i, uint64_t now_ns,
                   struct errors *errors) {
    const struct engine_change change = {
        .setup = reload->next, .type = &reload->next->types[i], .first = present->engines->of[0], .now_ns = now_ns};
    int from = present_of(present->setup, reload->next, i);
    if (from < 0)
        return make(reload, present, i, now_ns, errors);
    struct engine *engine = present->engines->of[from];
    int r = engine->ops->prepare(engine, &change, errors);
    if (r == 0)
        reload->engines[i] = engine;
    return r;
}

static void find_leaving(struct reload *reload, const struct reload_engines *present) {
    size_t n = n_types(reload->next), n_leaving = 0;
    reload->other_kinds = n != present->engines->n;
    memset(reload->leaving, 0, sizeof reload->leaving);
    for (size_t k = 0; k < present->engines->n; k++) {
        bool stays = false;
        for (size_t i = 0; i < n; i++)
            stays = stays || reload->engines[i] == present->engines->of[k];
        if (!stays)
            reload->leaving[n_leaving++] = present->engines->of[k];
        reload->other_kinds = reload->other_kinds || !stays || reload->engines[k] != present->engines->of[k];
    }
}

int reload_prepare(struct reload *reload, const struct reload_engines *present, uint64_t now_ns,
                   struct errors *errors) {
    size_t n = n_types(reload->next);
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = prepare(reload, present, i, now_ns, errors);
    if (r < 0)
        abandon(reload, n);
    else
        find_leaving(reload, present);
    if (r == -EAGAIN)
        *reload = (struct reload){
            .next = reload->next, .asked_ns = now_ns, .refused = reload->refused, .looked = reload->looked};
    else if (r < 0)
        reload_deinit(reload);
    return r;
}

void reload_abandon(struct reload *reload) {
    abandon(reload, n_types(reload->next));
    reload_deinit(reload);
}

int reload_change(struct reload *reload, struct engines *engines, uint64_t now_ns, struct setup **setup) {
    int r = 0;
    engines->n = n_types(reload->next);
    for (size_t i = 0; i < engines->n && r == 0; i++)
        if (!reload->made[i])
            r = reload->engines[i]->ops->change(reload->engines[i], now_ns);
    memcpy(engines->of, reload->engines, sizeof reload->engines);
    engines_wake(engines);
    for (size_t i = 0; i < SETUP_TYPES_MAX; i++)
        if (reload->leaving[i])
            reload->leaving[i]->ops->free(reload->leaving[i]);
    if (r < 0)
        return r;
    load_free(*setup);
    *setup = reload->next;
    *reload = (struct reload){.other_kinds = reload->other_kinds, .looked = reload->looked};
    return 0;
}

void reload_deinit(struct reload *reload) {
    load_free(reload->next);
    *reload = (struct reload){0};
}

// ---- what is said of it ----

static void log_result(const struct options *options, const char *result, const char *reason, enum log_level level,
                       const char *text) {
    const struct log_field fields[] = {
        {"RESULT", result}, {"CONFIG", options->config}, {"REASON", reason}, {NULL, NULL}};
    log_event(LOG_EVENT_RELOAD, level, fields, "%s", text);
}

void reload_log_refusal(const struct options *options, int r, const struct errors *errors) {
    char reason[ERROR_LINE_MAX];
    log_errors(errors);
    if (errors->n == 0)
        log_error("%s", strerror(-r));
    if (errors->n > 0)
        error_format(&errors->items[0], reason, sizeof reason);
    log_result(
        options, "refused", errors->n > 0 ? reason : strerror(-r), LOG_LEVEL_ERROR,
        "the configuration is not in force: topdownd goes on with the one before. 'topdownd check-config' checks "
        "a change in advance");
}

void reload_log_success(const struct options *options, bool looked) {
    if (looked)
        log_info("what this host has now is measured");
    else
        log_result(options, "in_force", NULL, LOG_LEVEL_INFO, "the configuration was read again and is in force");
}
