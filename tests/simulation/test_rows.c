// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/held_host.h"

// What `topdownd measure --interval` prints as a row: a snapshot of whole rounds is made of windows that lie inside it.
// So it is right about exactly its own time, also where the load changes from one row to the next.

enum { SEED = 7, FLIP_SECONDS = 4, FLIPS_AT_MS = 370, ROWS = 60 };

static void add_frame(struct scenario_load *load, const struct scenario_keyframe *like, double at, bool slow,
                      double more) {
    struct scenario_keyframe *frame = &load->keyframes[load->n_keyframes++];
    *frame = (struct scenario_keyframe){.at_seconds = at, .n_rates = like->n_rates};
    frame->rates = calloc(like->n_rates, sizeof *frame->rates);
    assert_non_null(frame->rates);
    for (size_t i = 0; i < like->n_rates; i++) {
        bool cycles = strstr(like->rates[i].event, "CYCLE") != NULL;
        double factor = cycles ? 1 : (slow ? 0.3 : 1) * more;
        frame->rates[i] = (struct scenario_rate){strdup(like->rates[i].event), like->rates[i].per_second * factor};
    }
}

// Every four seconds all CPUs do a third of what they did, or three times as much, and meanwhile ever more: no two rows
// are alike.
static void make_flips(struct pipeline *p) {
    static const double RAMP = 0.001, GROWS = 1.2;
    struct scenario_load *load = &p->scenario->loads[0];
    const struct scenario_load was = *load;
    const struct scenario_keyframe *like = &was.keyframes[0];
    load->keyframes = calloc(6, sizeof *load->keyframes);
    assert_non_null(load->keyframes);
    load->n_keyframes = 0;
    load->period_seconds = 2 * FLIP_SECONDS;
    double at = FLIPS_AT_MS * 1e-3;
    add_frame(load, like, 0, true, 1.19);
    add_frame(load, like, at, true, GROWS);
    add_frame(load, like, at + RAMP, false, 1);
    add_frame(load, like, at + FLIP_SECONDS, false, GROWS);
    add_frame(load, like, at + FLIP_SECONDS + RAMP, true, 1);
    add_frame(load, like, 2 * FLIP_SECONDS - RAMP, true, 1.19);
    for (size_t i = 0; i < like->n_rates; i++)
        free(like->rates[i].event);
    free(like->rates);
    free(was.keyframes);
}

static void start(struct pipeline *p, uint64_t slot_ns) {
    pipeline_load(p, STEADY);
    make_flips(p);
    p->whole_rounds = true;
    p->interval_ns = SECOND_NS;
    pipeline_start(p, slot_ns, SEED, DEFAULT_GROUPS);
}

struct checked {
    double ipc; // of the row before
    size_t n, told, right;
    uint64_t end_ns;
};

static void look_at_row(const struct pipeline *p, struct checked *rows) {
    const double *values = p->snapshot->values;
    assert_true(!p->snapshot->within_round);
    assert_true(rows->n == 0 || p->snapshot->start_ns == rows->end_ns);
    rows->end_ns = p->snapshot->end_ns;
    for (size_t m = 0; m < p->layout->n_metrics; m++) {
        if (p->plan->metrics[m].unit < 0)
            continue;
        double value = values[snapshot_metric(p->layout, 0, m)], low = values[snapshot_low(p->layout, 0, m)],
               high = values[snapshot_high(p->layout, 0, m)],
               truth = pipeline_truth(p, 0, m, p->snapshot->start_ns, p->snapshot->end_ns);
        assert_true(isfinite(value));
        rows->told += isfinite(low) ? 1 : 0;
        rows->right += low <= truth * (1 + 1e-9) && truth <= high * (1 + 1e-9);
    }
    double ipc = pipeline_gauge(p, 0, "ipc");
    assert_true(rows->n == 0 || fabs(ipc - rows->ipc) > 1e-4);
    rows->ipc = ipc;
    rows->n++;
}

// Of slots of 0.13 s a round takes a second, of half a second it takes four: then rows are as long as that.
static void check_rows(uint64_t slot_ns) {
    struct pipeline p;
    start(&p, slot_ns);
    struct checked rows = {0};
    while (rows.n < ROWS)
        if (pipeline_step(&p, 0))
            look_at_row(&p, &rows);
    if (!((double)rows.told > 0.9 * ROWS && (double)rows.right >= 0.9 * (double)rows.told))
        fail_msg("%zu of %zu intervals have the truth", rows.right, rows.told);
    pipeline_stop(&p);
}

static void test_each_row_is_right_about_its_own_time_and_none_repeats_the_one_before(void **state) {
    (void)state;
    check_rows(SECOND_NS * 13 / 100);
    check_rows(SECOND_NS / 2);
}

// A CPU's windows fill a row at most, also those of a core that sleeps and is held on an event group for seconds.
static void check_windows(const struct readings *readings, size_t n_cpus) {
    uint64_t *enabled_ns = calloc(n_cpus, sizeof *enabled_ns);
    assert_non_null(enabled_ns);
    for (size_t i = 0; i < readings->n_windows; i++)
        enabled_ns[readings->windows[i].cpu] += readings->windows[i].enabled_ns;
    for (size_t cpu = 0; cpu < n_cpus; cpu++)
        assert_true(enabled_ns[cpu] > 0 && enabled_ns[cpu] <= readings->end_ns - readings->start_ns);
    free(enabled_ns);
}

static void test_windows_of_cores_that_sleep_are_cut_at_the_edges_of_a_row(void **state) {
    (void)state;
    struct held held;
    held_load(&held);
    for (size_t core = 0; core < CORES / 2; core++)
        busy_always(&held.bursts[core]);
    held.p.raw = held.p.whole_rounds = true;
    held_start(&held, SEED);
    size_t n = 0, n_held = 0;
    while (n < ROWS) {
        if (!pipeline_step(&held.p, 0))
            continue;
        const struct readings *readings = sampler_readings(held.p.sampler);
        assert_int_equal(readings->n_cores, CORES);
        check_windows(readings, CORES);
        for (size_t c = 0; c < readings->n_cores; c++)
            n_held += readings->cores[c].held;
        n++;
    }
    assert_true(n_held >= (ROWS - 2) * CORES / 2);
    held_stop(&held);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_row_is_right_about_its_own_time_and_none_repeats_the_one_before),
        cmocka_unit_test(test_windows_of_cores_that_sleep_are_cut_at_the_edges_of_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
