// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/reload.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "daemon/base/log_event.h"
#include "daemon/run/load.h"

static int load(const struct options *options, const struct setup *present, struct errors *errors, struct setup **out) {
    struct setup *setup;
    if (present->types[0].source->replayed)
        return errors_add(errors, NULL, 0, 0,
                          "a replay shows what was recorded: start another one to show it with another configuration");
    int r = load_setup(options, errors, &setup);
    if (r < 0)
        return r;
    r = load_compare(present, setup, errors);
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

bool reload_is_due(const struct reload *reload, uint64_t now_ns) {
    return reload->next && (reload->round_over || now_ns - reload->asked_ns > RELOAD_WAIT_NS);
}

static void abandon(struct engine *const *engines, size_t n) {
    while (n > 0) {
        struct engine *engine = engines[--n];
        engine->ops->abandon(engine);
    }
}

int reload_prepare(struct reload *reload, struct engine *const *engines, size_t n, uint64_t now_ns,
                   struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        const struct engine_change change = {
            .setup = reload->next, .type = &reload->next->types[i], .first = engines[0], .now_ns = now_ns};
        r = engines[i]->ops->prepare(engines[i], &change, errors);
        if (r < 0)
            abandon(engines, i);
    }
    if (r == -EAGAIN)
        *reload = (struct reload){.next = reload->next, .asked_ns = now_ns, .refused = reload->refused};
    else if (r < 0)
        reload_deinit(reload);
    return r;
}

void reload_abandon(struct reload *reload, struct engine *const *engines, size_t n) {
    abandon(engines, n);
    reload_deinit(reload);
}

int reload_change(struct reload *reload, struct engine *const *engines, size_t n, uint64_t now_ns,
                  struct setup **setup) {
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = engines[i]->ops->change(engines[i], now_ns);
    if (r < 0)
        return r;
    load_free(*setup);
    *setup = reload->next;
    *reload = (struct reload){0};
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

void reload_log_success(const struct options *options) {
    log_result(options, "in_force", NULL, LOG_LEVEL_INFO, "the configuration was read again and is in force");
}
