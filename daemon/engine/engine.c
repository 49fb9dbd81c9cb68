// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/engine.h"

#include <errno.h>
#include <sys/random.h>

#include "daemon/base/clocks.h"
#include "daemon/engine/measure.h"
#include "daemon/engine/replay.h"

static int new_measure(struct measure_request *request, struct errors *errors, struct engine **out) {
    if (getrandom(&request->seed, sizeof request->seed, 0) != sizeof request->seed)
        return -EIO;
    return measure_new(request, errors, out);
}

int engine_new(struct setup *setup, struct core_type *type, struct self *self, const struct shown *newest,
               struct engine *first, uint64_t now_ns, struct errors *errors, struct engine **out) {
    struct measure_request request = {
        .setup = setup, .type = type, .self = self, .newest = newest, .first = first, .now_ns = now_ns};
    return new_measure(&request, errors, out);
}

int engine_new_all(struct setup *setup, struct self *self, const struct shown *newest, uint64_t now_ns,
                   struct errors *errors, struct engine *out[SETUP_TYPES_MAX], size_t *n) {
    int r = 0;
    *n = 0;
    for (size_t i = 0; i < setup->n_types + setup->n_boxes && r == 0; i++) {
        struct core_type *type = &setup->types[i];
        struct engine *first = i > 0 ? out[0] : NULL;
        r = type->source->replayed ? replay_new(setup, type, self, first, &out[i])
                                   : engine_new(setup, type, self, newest, first, now_ns, errors, &out[i]);
        *n += r == 0;
    }
    return r;
}

void engine_attend_all(struct engine *const *engines, size_t n, struct readers *readers) {
    for (size_t i = 0; i < n; i++)
        if (engines[i]->ops->attend)
            engines[i]->ops->attend(engines[i], readers);
}

bool engine_all_have_plans(struct engine *const engines[], size_t n) {
    bool all = true;
    for (size_t i = 0; i < n; i++)
        all = all && engines[i]->ops->view(engines[i]);
    return all;
}

// A path may have any characters.
void engine_tell_trouble(const char *name, const char *text, const char *remedy, struct text *out) {
    static const struct text_escape escapes[] = {{'\n', " "}, {'\t', " "}, {0, NULL}};
    text_format(out, "trouble %s\t", name);
    text_escaped(out, text, escapes);
    text_format(out, "\t%s\n", remedy);
}

int engine_tell_all(struct engine *const engines[], size_t n, struct text *out) {
    struct view_trouble troubles[VIEW_TROUBLES_MAX];
    for (size_t i = 0; i < n; i++) {
        struct snapshot *snapshot = engines[i]->ops->snapshot(engines[i]);
        if (!snapshot)
            return -ENOMEM;
        size_t n_troubles = view_troubles(engines[i]->ops->view(engines[i]), snapshot, i, troubles);
        for (size_t k = 0; k < n_troubles; k++)
            engine_tell_trouble(troubles[k].name, troubles[k].text, troubles[k].remedy, out);
        snapshot_unref(snapshot);
    }
    return 0;
}

int engine_yield_all(struct engine *const engines[], size_t n, double seconds) {
    int r = 0;
    for (size_t i = 0; i < n && r == 0; i++)
        r = engines[i]->ops->yield(engines[i], clocks_now_ns(), seconds);
    return r;
}

void engine_refresh_all(struct engine *const engines[], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (engines[i]->ops->refresh)
            engines[i]->ops->refresh(engines[i]);
}
