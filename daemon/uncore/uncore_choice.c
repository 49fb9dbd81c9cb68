// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_choice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char NOT_NAMED[] = "uncore.groups names neither its group, %s, nor one of its metric groups";

int uncore_choice_note(struct setup *setup, const char *name, size_t n_boxes, const char *format, ...) {
    struct setup_unmeasured *all = &setup->unmeasured;
    struct setup_unmeasured_kind *kinds = realloc(all->kinds, (all->n + 1) * sizeof *kinds);
    va_list values;
    if (!kinds)
        return -ENOMEM;
    all->kinds = kinds;
    struct setup_unmeasured_kind *kind = &kinds[all->n++];
    *kind = (struct setup_unmeasured_kind){.n = n_boxes};
    (void)snprintf(kind->name, sizeof kind->name, "%s", name);
    va_start(values, format);
    (void)vsnprintf(kind->why, sizeof kind->why, format, values);
    va_end(values);
    return 0;
}

bool uncore_choice_wants(struct setup *setup, const struct uncore_kind *kind, size_t n_boxes, int *r) {
    const struct config_uncore *config = &setup->config->uncore;
    *r = 0;
    if (config->n_named > 0 || config_uncore_selects(config, kind->group))
        return true;
    *r = uncore_choice_note(setup, kind->name, n_boxes, NOT_NAMED, kind->group);
    return false;
}

int uncore_choice_none_left(struct setup *setup, const char *name, size_t n_boxes, bool wanted) {
    if (wanted)
        uncore_note_kind(setup, "left_out", "uncore.boxes leaves out all boxes, and nothing is measured, of", name);
    return uncore_choice_note(setup, name, n_boxes, "uncore.boxes leaves out all of them");
}

int uncore_choice_add(struct setup *setup, struct source *source, struct topology *boxes, const char *group) {
    const char *teller = uncore_told_by(setup, source->catalog);
    bool selected = !group || config_uncore_selects(&setup->config->uncore, group);
    bool full = setup->n_types + setup->n_boxes == SETUP_TYPES_MAX;
    char name[SETUP_KIND_MAX];
    size_t n = boxes->n_cpus;
    (void)snprintf(name, sizeof name, "%s", source->pmu_name);
    int r = uncore_add(setup, source, boxes, selected);
    if (r != 0)
        return r;
    if (teller)
        return uncore_choice_note(setup, name, n, "%s tells the same", teller);
    if (!selected)
        return uncore_choice_note(setup, name, n, NOT_NAMED, group);
    return uncore_choice_note(setup, name, n,
                              full ? "there is room for no more kinds" : "it has none of the metric groups");
}
