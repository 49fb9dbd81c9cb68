// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/led_catalog.h"

#include <math.h>

#include "core/base/random.h"
#include "core/estimate/estimate_dither.h"
#include "core/estimate/estimate_shape.h"

// Two CPUs whose every slot of 0.2 s measures SLOTS, RET, FE and INST. Pieces are 75 ms long, two for about six slots.

enum { CPUS = 2, WINDOWS = 9, ROUNDS = 1000, P_SLOTS = 1, P_RET, P_FE, P_INST, VALUES };
static const double SLOT = 0.2, SLOTS = 255e6;

static void expect_near(double value, double wanted, double within) {
    if (!(fabs(value - wanted) <= within))
        fail_msg("%g instead of %g", value, wanted);
}

struct rig {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
    struct rows *rows;
    struct scopes *scopes;
    struct cells *cells;
    struct estimate_shape *shape;
    struct estimate_dither *dither;
    uint64_t seed;
};

static void rig_init(struct rig *rig) {
    struct catalog_builder *builder = led_builder();
    metric_of(builder, "of_a", "A / SLOTS", "");
    metric_of(builder, "of_b", "B / SLOTS", "");
    metric_of(builder, "of_c", "C / SLOTS", "");
    metric_of(builder, "ipc", "INST / SLOTS", "");
    group_of(builder, "all", "frontend_bound backend_bound of_a of_b of_c ipc");
    *rig = (struct rig){.catalog = catalog_builder_finish(builder)};
    rig->plan = build_plan(&(struct plan_request){
        .catalog = rig->catalog, .general_counters = 2, .slot_ns = UINT64_C(200000000), .idle = 0.1});
    assert_true(rig->plan->common_unit >= 0);
    assert_int_equal(plan_slots(rig->plan), 6);
    assert_int_equal(rig->plan->units[rig->plan->common_unit].n_events, VALUES - 1);
    rig->topology = build_cpus(0, CPUS, 1);
    rig->rows = rows_new(rig->plan);
    rig->scopes = scopes_new(rig->topology);
    rig->cells = cells_new(rig->rows, CPUS);
    rig->shape = estimate_shape_new(rig->rows, rig->scopes, INFINITY);
    rig->dither = estimate_dither_new(rig->rows, CPUS, INFINITY);
    assert_true(rig->cells && rig->shape && rig->dither);
    rig->seed = 1;
}

static void rig_free(struct rig *rig) {
    estimate_dither_free(rig->dither);
    estimate_shape_free(rig->shape);
    cells_free(rig->cells);
    scopes_free(rig->scopes);
    rows_free(rig->rows);
    topology_free(rig->topology);
    plan_free(rig->plan);
    catalog_free(rig->catalog);
}

static void begin(struct rig *rig) {
    uint64_t end_ns = random_next(&rig->seed);
    for (size_t cpu = 0; cpu < CPUS; cpu++) {
        cells_begin_round(rig->cells, cpu);
        cells_begin_contrast(rig->cells, cpu, end_ns);
    }
}

// A window in which everything happened `rate` times as often as usual, and the fields read these.
static void window(struct rig *rig, size_t cpu, double seconds, double rate, unsigned ret, unsigned fe) {
    size_t unit = (size_t)rig->plan->common_unit;
    double slots = SLOTS * rate * seconds;
    const double values[VALUES] = {seconds, slots, slots * ret / 255, slots * fe / 255, slots / 4};
    cells_note_window(rig->cells, cpu, unit, seconds);
    cells_add_values(rig->cells, cpu, unit, values);
    cells_take_contrast(rig->cells, cpu, seconds, values);
}

static void end(struct rig *rig) {
    for (size_t cpu = 0; cpu < CPUS; cpu++)
        cells_end_round(rig->cells, cpu, WINDOWS * SLOT / 0.9);
    estimate_shape_take_round(rig->shape, rig->cells);
    estimate_dither_take_round(rig->dither, rig->cells);
}

static size_t metric_named(const struct rig *rig, const char *name) {
    size_t m = 0;
    while (strcmp(rig->catalog->metrics[rig->plan->metrics[m].metric].export_name, name) != 0)
        m++;
    return m;
}

// ---- neighbours ----

static const struct neighbours_event *event_of(const struct rig *rig, size_t place) {
    return neighbours_of(rig->cells->neighbours, 0) + place - 1;
}

// Readings of RET: 100 100 101 103, so one pair is equal, one differs by a step and one by more. Slots a second:
// 1, 1.1, 1, 1.2 times as many, so neighbours differ by 0.1, 0.1, 0.2, and those with one in between by 0, 0.1; pairs
// of readings weigh 1 / 1.1, 1 / 1.1, 1 / 1.2.
static void test_windows_are_compared_with_those_before_them(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    begin(&rig);
    window(&rig, 0, SLOT, 1, 100, 50);
    window(&rig, 0, SLOT, 1.1, 100, 50);
    window(&rig, 0, SLOT, 1, 101, 50);
    window(&rig, 0, SLOT, 1.2, 103, 50);
    assert_int_equal(rig.cells->neighbours->cpus[0].n_near, 3);
    assert_int_equal(rig.cells->neighbours->cpus[0].n_far, 2);
    expect_near(event_of(&rig, P_RET)->equal, 1 / 1.1, 1e-9);
    expect_near(event_of(&rig, P_RET)->adjacent, 1 / 1.1, 1e-9);
    expect_near(event_of(&rig, P_FE)->equal, 2 / 1.1 + 1 / 1.2, 1e-9);
    expect_near(event_of(&rig, P_SLOTS)->near / SLOTS / SLOTS, 0.06, 1e-9);
    expect_near(event_of(&rig, P_SLOTS)->far / SLOTS / SLOTS, 0.01, 1e-9);
    rig_free(&rig);
}

// The CPU does something else where FE changes by 20 steps: that RET differs by one is no noise of what it did before.
static void test_a_step_beside_a_large_change_is_no_noise(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    begin(&rig);
    window(&rig, 0, SLOT, 1, 100, 50);
    window(&rig, 0, SLOT, 1, 101, 70);
    expect_near(event_of(&rig, P_RET)->adjacent, 0, 0);
    window(&rig, 0, SLOT, 1, 102, 73);
    expect_near(event_of(&rig, P_RET)->adjacent, 1, 0);
    rig_free(&rig);
}

// A window of two slots says nothing of what happens in one, nor does one without data; fields of any window compare,
// as far as both windows have pipeline slots.
static void test_only_windows_of_a_slot_in_a_row_are_compared(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    begin(&rig);
    window(&rig, 0, SLOT, 1, 100, 50);
    window(&rig, 0, 2 * SLOT, 3, 100, 50);
    window(&rig, 0, SLOT, 1, 100, 50);
    cells_take_contrast(rig.cells, 0, SLOT, NULL);
    window(&rig, 0, SLOT, 2, 100, 50);
    assert_int_equal(rig.cells->neighbours->cpus[0].n_near, 0);
    expect_near(rig.cells->neighbours->cpus[0].n_read, 1 / 3.0, 1e-9);
    expect_near(event_of(&rig, P_RET)->equal, 1 / 3.0, 1e-9);
    rig_free(&rig);
}

// ---- the rounding of fields ----

static double kept(const struct rig *rig, size_t place) { return estimate_dither_kept(rig->dither, place, 0)->of[0]; }

static void test_rounding_stays_where_readings_are_alike(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    for (unsigned r = 0; r < 20; r++) {
        begin(&rig);
        for (unsigned w = 0; w < WINDOWS; w++)
            window(&rig, 0, SLOT, 1, 100, w < WINDOWS / 2 ? 50 : 90);
        end(&rig);
    }
    expect_near(kept(&rig, P_RET), 1, 1e-9);
    assert_in_range(1000 * kept(&rig, P_FE), 900, 950); // 7 of 8 pairs are equal: most of it stays
    rig_free(&rig);
}

// Readings of a normal value of any mean whose deviation is a half, and then twice a step.
static void test_rounding_averages_out_where_readings_vary(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    double mean = 100 + random_unit(&rig.seed);
    for (unsigned r = 0; r < ROUNDS; r++) {
        begin(&rig);
        for (unsigned w = 0; w < WINDOWS; w++) {
            double sum = 0;
            for (unsigned i = 0; i < 12; i++)
                sum += random_unit(&rig.seed) - 0.5;
            window(&rig, 0, SLOT, 1, (unsigned)(mean + sum / 2 + 0.5), (unsigned)(mean + 2 * sum + 0.5));
        }
        end(&rig);
    }
    assert_true(kept(&rig, P_RET) < 0.25);
    expect_near(kept(&rig, P_FE), 0, 0);
    expect_near(rig.dither->windows[0].of[0], WINDOWS, 0);
    rig_free(&rig);
}

// ---- what pieces hide ----

enum { INDEPENDENT, ALTERNATING, RARE };

// Rounds of two CPUs that do the same (`in_step`) or each what it does.
static void feed(struct rig *rig, int kind, bool in_step, unsigned rounds) {
    for (unsigned r = 0; r < rounds; r++) {
        begin(rig);
        double state[CPUS] = {1, 1};
        for (unsigned w = 0; w < WINDOWS; w++)
            for (size_t cpu = 0; cpu < CPUS; cpu++) {
                double drawn = random_unit(&rig->seed) - 0.5;
                if (kind == RARE && w == 0)
                    state[cpu] = 1 + 0.4 * drawn;
                else if (kind == RARE && random_unit(&rig->seed) < 0.1)
                    state[cpu] = 2 - state[cpu];
                else if (kind == ALTERNATING)
                    state[cpu] = w % 2 == 0 ? 1.1 : 0.9;
                else if (kind == INDEPENDENT)
                    state[cpu] = 1 + 0.4 * drawn;
                state[cpu] = in_step ? state[0] : state[cpu];
                window(rig, cpu, SLOT, state[cpu], 100, 50);
            }
        end(rig);
    }
}

static void test_the_variance_of_pieces_is_that_of_the_load(void **state) {
    (void)state;
    static const double least[] = {0.99, 2.6, 0.4}, most[] = {1.25, 2.7, 0.9};
    for (int kind = INDEPENDENT; kind <= RARE; kind++) {
        struct rig rig;
        rig_init(&rig);
        feed(&rig, kind, false, ROUNDS);
        double ratio = estimate_shape_ratio(rig.shape, metric_named(&rig, "ipc"));
        if (!(ratio >= least[kind] && ratio <= most[kind]))
            fail_msg("kind %d: %g", kind, ratio);
        expect_near(estimate_shape_ratio(rig.shape, metric_named(&rig, "of_a")), 1, 0);
        rig_free(&rig);
    }
}

// One round tells nothing of how sure it is: as much as there can be.
static void test_a_single_round_is_not_believed(void **state) {
    (void)state;
    struct rig rig;
    rig_init(&rig);
    expect_near(estimate_shape_ratio(rig.shape, metric_named(&rig, "ipc")), 1, 0);
    feed(&rig, INDEPENDENT, false, 1);
    expect_near(estimate_shape_ratio(rig.shape, metric_named(&rig, "ipc")), 0.2 / 0.075, 1e-6);
    rig_free(&rig);
}

// A fifth before anything is known. Then little for what every slot measures. Other metrics may differ as much as the
// sum of CPUs does: windows have a deviation of 0.4 / sqrt(12), pieces sqrt(0.2 / 0.075) times as much, and of two CPUs
// that do what they like together a root of 2 less.
static void test_the_resolution_is_as_large_as_cores_move_together(void **state) {
    (void)state;
    for (int in_step = 0; in_step < 2; in_step++) {
        struct rig rig;
        rig_init(&rig);
        size_t ipc = metric_named(&rig, "ipc"), of_a = metric_named(&rig, "of_a");
        expect_near(estimate_shape_piece(rig.shape, 0, ipc), 0.2, 0);
        expect_near(estimate_shape_piece(rig.shape, 0, of_a), 0.2, 0);
        feed(&rig, INDEPENDENT, in_step == 1, ROUNDS);
        double moves = 0.4 / sqrt(12) * sqrt(0.2 / 0.075) / (in_step ? 1 : sqrt(2));
        assert_true(estimate_shape_piece(rig.shape, 0, ipc) < 0.02);
        expect_near(estimate_shape_piece(rig.shape, 0, of_a), fmin(0.015 + moves, 0.2), 0.03);
        rig_free(&rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_are_compared_with_those_before_them),
        cmocka_unit_test(test_a_step_beside_a_large_change_is_no_noise),
        cmocka_unit_test(test_only_windows_of_a_slot_in_a_row_are_compared),
        cmocka_unit_test(test_rounding_stays_where_readings_are_alike),
        cmocka_unit_test(test_rounding_averages_out_where_readings_vary),
        cmocka_unit_test(test_the_variance_of_pieces_is_that_of_the_load),
        cmocka_unit_test(test_a_single_round_is_not_believed),
        cmocka_unit_test(test_the_resolution_is_as_large_as_cores_move_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
