// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/run/startable.h"
#include "daemon/uncore/uncore_setup.h"

struct setup *load_free(struct setup *setup) {
    if (setup)
        setup_deinit(setup);
    free(setup);
    return NULL;
}

int load_setup(const struct options *options, struct errors *errors, struct setup **out) {
    struct setup *setup = calloc(1, sizeof *setup);
    int r = setup ? setup_init(setup, options, errors) : -ENOMEM;
    if (r >= 0)
        r = uncore_setup(setup, options, errors);
    if (r >= 0)
        r = startable_check(setup, errors);
    if (r < 0)
        load_free(setup);
    else
        *out = setup;
    return r < 0 ? r : 0;
}

static bool same_types(const struct setup *a, const struct setup *b) {
    bool same = a->n_types == b->n_types;
    for (size_t i = 0; same && i < a->n_types; i++)
        same = strcmp(a->types[i].source->core_type, b->types[i].source->core_type) == 0;
    return same;
}

bool load_same_kinds(const struct setup *a, const struct setup *b) {
    bool same = a->n_boxes == b->n_boxes;
    for (size_t i = 0; same && i < a->n_boxes; i++)
        same = strcmp(a->types[a->n_types + i].source->pmu_name, b->types[b->n_types + i].source->pmu_name) == 0;
    return same;
}

// Each core type has series, a recording and an error budget of its own from the start on.
int load_compare(const struct setup *present, const struct setup *next, struct errors *errors) {
    const struct config_origin *origin = &next->profile->settings.cpus_origin;
    bool by_cpus = !next->profile->settings.cpus_all;
    if (same_types(present, next))
        return 0;
    return errors_add(errors, by_cpus ? origin->file : NULL, by_cpus ? origin->line : 0, by_cpus ? origin->column : 0,
                      "other core types would be measured than now, which needs a restart (systemctl restart "
                      "topdownd)");
}
