// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/uncore_find.h"
#include "daemon/check/advice_private.h"
#include "daemon/uncore/uncore_sim.h"

// Patterns of `uncore.boxes` that match no box.

static void advise_no_box(const struct config_pattern *pattern, const char *key, const char *boxes,
                          struct advice *advice) {
    advice_add_of(advice, "", true, "boxes_missing", "uncore.boxes.%s has %s, which is no box of this host (%s)", key,
                  pattern->text, boxes);
    advice_place(advice, pattern->origin);
}

static void advise_host(const struct host_roots *roots, const struct config_patterns *patterns, const char *key,
                        struct advice *advice) {
    for (size_t i = 0; i < patterns->n; i++) {
        const struct config_pattern *pattern = &patterns->items[i];
        struct uncore_boxes boxes;
        if (uncore_find_named(roots, pattern->text, &boxes) < 0)
            continue;
        if (boxes.n == 0)
            advise_no_box(pattern, key, "'topdownd list boxes'", advice);
        uncore_boxes_deinit(&boxes);
    }
}

static void advise_scenario(const struct scenario *host, const struct config_patterns *patterns, const char *key,
                            struct advice *advice) {
    for (size_t i = 0; i < patterns->n; i++) {
        size_t n = 0;
        for (const struct scenario *kind = host->uncore; kind; kind = kind->next)
            n += uncore_sim_match(kind, patterns->items[i].text);
        if (n == 0)
            advise_no_box(&patterns->items[i], key, "a scenario's boxes are named KIND_NUMBER, such as imc_0", advice);
    }
}

void advice_boxes_of_host(const struct config_boxes *boxes, const struct host_roots *roots, struct advice *advice) {
    advise_host(roots, &boxes->include, "include", advice);
    advise_host(roots, &boxes->exclude, "exclude", advice);
}

void advice_boxes_of_scenario(const struct config_boxes *boxes, const struct scenario *host, struct advice *advice) {
    advise_scenario(host, &boxes->include, "include", advice);
    advise_scenario(host, &boxes->exclude, "exclude", advice);
}
