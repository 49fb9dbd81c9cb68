// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/engines.h"

#include <errno.h>
#include <string.h>

#include "daemon/engine/replay.h"

int engines_init(struct engines *engines, struct setup *setup, struct self *self, const struct shown *newest,
                 uint64_t now_ns, struct errors *errors) {
    int r = 0;
    *engines = (struct engines){.n = 0};
    for (size_t i = 0; i < setup->n_types + setup->n_boxes && r == 0; i++) {
        struct core_type *type = &setup->types[i];
        struct engine *first = i > 0 ? engines->of[0] : NULL;
        r = type->source->replayed ? replay_new(setup, type, self, first, &engines->of[i])
                                   : engine_new(setup, type, self, newest, first, now_ns, errors, &engines->of[i]);
        engines->n += r == 0;
    }
    return r;
}

void engines_deinit(struct engines *engines) {
    while (engines->n > 0) {
        struct engine *engine = engines->of[--engines->n];
        engine->ops->free(engine);
    }
}

// ---- steps ----

static int step(struct engines *engines, size_t i, uint64_t now_ns, engines_take *take, void *context) {
    struct snapshot *snapshot = NULL;
    int r = engines->of[i]->ops->step(engines->of[i], now_ns, &engines->deadlines_ns[i], &snapshot);
    if (r >= 0)
        r = snapshot ? take(i, snapshot, context) : 0;
    snapshot_unref(snapshot);
    return r;
}

int engines_step(struct engines *engines, const struct clocks *clocks, engines_take *take, void *context,
                 uint64_t *next_ns) {
    int r = 0;
    *next_ns = UINT64_MAX;
    for (size_t i = 0; i < engines->n && r >= 0; i++) {
        uint64_t now_ns = clocks->monotonic_ns(clocks->context);
        bool due = engines->deadlines_ns[i] <= now_ns;
        r = due ? step(engines, i, now_ns, take, context) : 0;
        if (r > 0 && engines->deadlines_ns[i] <= now_ns)
            r = step(engines, i, now_ns, take, context);
        *next_ns = engines->deadlines_ns[i] < *next_ns ? engines->deadlines_ns[i] : *next_ns;
    }
    return r < 0 ? r : 0;
}

void engines_wake(struct engines *engines) { memset(engines->deadlines_ns, 0, sizeof engines->deadlines_ns); }

// ---- all of them ----

struct view *engines_view(const struct engines *engines, size_t i) {
    return engines->of[i]->ops->view(engines->of[i]);
}

bool engines_have_plans(const struct engines *engines) {
    bool all = true;
    for (size_t i = 0; i < engines->n; i++)
        all = all && engines_view(engines, i);
    return all;
}

void engines_attend(struct engines *engines, struct readers *readers) {
    for (size_t i = 0; i < engines->n; i++)
        if (engines->of[i]->ops->attend)
            engines->of[i]->ops->attend(engines->of[i], readers);
}

// A path may have any characters.
void engines_tell_trouble(const char *name, const char *text, const char *remedy, struct text *out) {
    static const struct text_escape escapes[] = {{'\n', " "}, {'\t', " "}, {0, NULL}};
    text_format(out, "trouble %s\t", name);
    text_escaped(out, text, escapes);
    text_format(out, "\t%s\n", remedy);
}

int engines_tell(const struct engines *engines, size_t n, struct text *out) {
    struct view_trouble troubles[VIEW_TROUBLES_MAX];
    for (size_t i = 0; i < n; i++) {
        struct snapshot *snapshot = engines->of[i]->ops->snapshot(engines->of[i]);
        if (!snapshot)
            return -ENOMEM;
        size_t n_troubles = view_troubles(engines_view(engines, i), snapshot, i, troubles);
        for (size_t k = 0; k < n_troubles; k++)
            engines_tell_trouble(troubles[k].name, troubles[k].text, troubles[k].remedy, out);
        snapshot_unref(snapshot);
    }
    return 0;
}

int engines_yield(struct engines *engines, double seconds) {
    int r = 0;
    for (size_t i = 0; i < engines->n && r == 0; i++)
        r = engines->of[i]->ops->yield(engines->of[i], clocks_now_ns(), seconds);
    return r;
}

void engines_refresh(struct engines *engines) {
    for (size_t i = 0; i < engines->n; i++)
        if (engines->of[i]->ops->refresh)
            engines->of[i]->ops->refresh(engines->of[i]);
}
