// SPDX-License-Identifier: Apache-2.0
#include "core/counts/shared_events.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct shared_events *shared = self;
    size_t units = shared->n_units; // no more events than units that have one
    shared->counters = block_take(block, units * units, sizeof *shared->counters);
    shared->first = block_take(block, units + 1, sizeof *shared->first);
    shared->of_unit = block_take(block, units, sizeof *shared->of_unit);
    shared->places = block_take(block, units, sizeof *shared->places);
}

// Where a unit that counts in windows of its own, all events at the same time, has an event; 0: it does not count it.
static size_t place_of(const struct rows *rows, size_t u, unsigned event) {
    const struct plan *plan = rows->plan;
    bool own = !plan_unit_stands(plan, (unsigned)u) && plan->common_unit != (int)u && plan->units[u].n_groups == 1;
    return own && !plan_is_field(plan, event) ? rows_place_in_unit(rows, u, event) : 0;
}

static size_t units_with(const struct rows *rows, unsigned event) {
    size_t n = 0;
    for (size_t u = 0; u < rows->n_units; u++)
        n += place_of(rows, u, event) > 0;
    return n;
}

// The catalog's event that most other units count as well; its number of events: there is none.
static unsigned most_shared(const struct rows *rows, size_t u) {
    const struct plan_unit *unit = &rows->plan->units[u];
    unsigned best = (unsigned)rows->plan->catalog->n_events;
    size_t most = 1;
    for (size_t i = 0; i < unit->n_events; i++) {
        size_t n = place_of(rows, u, unit->events[i]) > 0 ? units_with(rows, unit->events[i]) : 0;
        best = n > most ? unit->events[i] : best;
        most = n > most ? n : most;
    }
    return best;
}

static void add_event(struct shared_events *shared, unsigned event) {
    size_t n = shared_events_counters(shared);
    for (size_t u = 0; u < shared->n_units; u++) {
        size_t place = place_of(shared->rows, u, event);
        if (place > 0)
            shared->counters[n++] = (struct shared_counter){u, place};
    }
    shared->first[++shared->n_events] = n;
}

static bool has(const struct shared_events *shared, size_t i, size_t u, size_t place) {
    for (size_t c = shared->first[i]; c < shared->first[i + 1]; c++)
        if (shared->counters[c].unit == u && shared->counters[c].place == place)
            return true;
    return false;
}

struct shared_events *shared_events_new(const struct rows *rows) {
    struct shared_events *made = block_new(&(struct shared_events){.n_units = rows->n_units, .rows = rows},
                                           sizeof(struct shared_events), lay_out);
    if (!made)
        return NULL;
    for (size_t u = 0; u < rows->n_units; u++) {
        unsigned event = most_shared(rows, u);
        if (event == rows->plan->catalog->n_events)
            continue;
        size_t i = 0, place = place_of(rows, u, event);
        while (i < made->n_events && !has(made, i, u, place))
            i++;
        if (i == made->n_events)
            add_event(made, event);
        made->of_unit[u] = i;
        made->places[u] = place;
    }
    for (size_t u = 0; u < rows->n_units; u++)
        made->of_unit[u] = made->places[u] > 0 ? made->of_unit[u] : made->n_events;
    return made;
}

struct shared_events *shared_events_free(struct shared_events *shared) {
    free(shared);
    return NULL;
}
