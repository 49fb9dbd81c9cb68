// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/sim_load.h"

// A load is a table: one row of rates per keyframe, and the first row again at the period's end. Rates are linear
// between two rows, so the count of a stretch within one segment is the rate at its middle times its length.
//
// An interval is split at the keyframes, never computed as the difference of two totals: after a year a total has 17
// digits, and a double would lose a short window. Whole periods are counted once and multiplied.

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "collectors/sim/sim_time.h"

struct sim_load {
    size_t n_columns, n_segments; // the catalog's events and SIM_AWAKE
    bool tells_awake;
    uint64_t *at_ns; // n_segments + 1; the last is the period
    double *rates;   // [row * n_columns + event], n_segments + 1 rows
};

static int fill_row(const struct scenario_keyframe *keyframe, const struct catalog *catalog, double *row,
                    const char **event) {
    row[CATALOG_CPU_SECONDS] = 1;
    row[SIM_AWAKE(catalog->n_events)] = keyframe->awake;
    for (size_t i = 0; i < keyframe->n_rates; i++) {
        const struct scenario_rate *rate = &keyframe->rates[i];
        int index = catalog_find_event(catalog, rate->event);
        if (index <= CATALOG_CPU_SECONDS || !(rate->per_second >= 0 && rate->per_second <= SIM_RATE_MAX)) {
            *event = rate->event;
            return -EINVAL;
        }
        row[index] = rate->per_second;
    }
    return 0;
}

int sim_load_new(const struct scenario_load *load, const struct catalog *catalog, const char **event,
                 struct sim_load **out) {
    struct scenario_keyframe nothing = {.awake_told = true};
    const struct scenario_keyframe *keyframes = load ? load->keyframes : &nothing;
    size_t n = load ? load->n_keyframes : 1;
    assert(n > 0);
    struct sim_load *made = calloc(1, sizeof *made);
    if (!made)
        return -ENOMEM;
    made->n_columns = catalog->n_events + 1;
    made->tells_awake = true;
    made->n_segments = n;
    made->at_ns = calloc(n + 1, sizeof *made->at_ns);
    made->rates = calloc((n + 1) * made->n_columns, sizeof *made->rates);
    int r = made->at_ns && made->rates ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i <= n; i++) {
        made->at_ns[i] = i < n ? sim_ns(keyframes[i].at_seconds) : sim_ns(load ? load->period_seconds : 0);
        assert(n == 1 || i == 0 || made->at_ns[i] >= made->at_ns[i - 1]);
        r = fill_row(&keyframes[i % n], catalog, made->rates + i * made->n_columns, event);
        made->tells_awake = made->tells_awake && keyframes[i % n].awake_told;
    }
    if (r < 0) {
        sim_load_free(made);
        return r;
    }
    assert(n == 1 || (made->at_ns[0] == 0 && made->at_ns[n] > 0));
    *out = made;
    return 0;
}

struct sim_load *sim_load_free(struct sim_load *load) {
    if (!load)
        return NULL;
    free(load->rates);
    free(load->at_ns);
    free(load);
    return NULL;
}

bool sim_load_tells_awake(const struct sim_load *load) { return load->tells_awake; }

uint64_t sim_load_phase_ns(const struct sim_load *load, double seconds) {
    uint64_t period_ns = load->at_ns[load->n_segments];
    if (load->n_segments == 1 || !isfinite(seconds))
        return 0;
    uint64_t phase_ns = (uint64_t)fmod(fabs(seconds) * 1e9, (double)period_ns);
    return seconds < 0 && phase_ns > 0 ? period_ns - phase_ns : phase_ns;
}

static void count_add(struct sim_count *count, double happened) {
    double sum = count->rest + happened;
    double whole = nearbyint(sum);
    count->whole += (uint64_t)(whole < 0x1p64 ? whole : fmod(whole, 0x1p64)); // wraps as 64 bits do
    count->rest = sum - whole;
}

// Counts a stretch at a rate that lies `slope` (0 to 1) of the way from one row's to the next row's.
static void count_at(const struct sim_load *load, size_t row, double slope, double seconds, const unsigned *events,
                     size_t n, struct sim_count *counts) {
    const double *rates = load->rates + row * load->n_columns, *next = rates + load->n_columns;
    for (size_t i = 0; i < n; i++) {
        double rate = rates[events[i]] * (1 - slope) + next[events[i]] * slope;
        count_add(&counts[i], rate * seconds);
    }
}

// The last segment that begins at or before at_ns, a time within the period.
static size_t find_segment(const struct sim_load *load, uint64_t at_ns) {
    size_t low = 0, high = load->n_segments;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (load->at_ns[middle] <= at_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Counts from `from_ns` to `to_ns`, both within one period, multiplied by `times`.
static void count_within_period(const struct sim_load *load, uint64_t from_ns, uint64_t to_ns, double times,
                                const unsigned *events, size_t n, struct sim_count *counts) {
    for (size_t segment = find_segment(load, from_ns); from_ns < to_ns; segment++) {
        uint64_t begin_ns = load->at_ns[segment], next_ns = load->at_ns[segment + 1];
        uint64_t end_ns = next_ns < to_ns ? next_ns : to_ns;
        double middle_ns = ((double)(from_ns - begin_ns) + (double)(end_ns - begin_ns)) / 2;
        double seconds = (double)(end_ns - from_ns) / 1e9;
        if (end_ns > from_ns)
            count_at(load, segment, middle_ns / (double)(next_ns - begin_ns), seconds * times, events, n, counts);
        from_ns = end_ns;
    }
}

void sim_load_count(const struct sim_load *load, uint64_t from_ns, uint64_t to_ns, const unsigned *events, size_t n,
                    struct sim_count *counts) {
    assert(from_ns <= to_ns);
    if (load->n_segments == 1) {
        count_at(load, 0, 0, (double)(to_ns - from_ns) / 1e9, events, n, counts);
        return;
    }
    uint64_t period_ns = load->at_ns[load->n_segments];
    uint64_t whole_periods = (to_ns - from_ns) / period_ns;
    if (whole_periods > 0) // a whole period has the same count wherever it begins
        count_within_period(load, 0, period_ns, (double)whole_periods, events, n, counts);
    uint64_t begin_ns = from_ns % period_ns;
    uint64_t end_ns = begin_ns + (to_ns - from_ns) % period_ns;
    if (end_ns <= period_ns) {
        count_within_period(load, begin_ns, end_ns, 1, events, n, counts);
    } else {
        count_within_period(load, begin_ns, period_ns, 1, events, n, counts);
        count_within_period(load, 0, end_ns - period_ns, 1, events, n, counts);
    }
}
