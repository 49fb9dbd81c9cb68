// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/pipeline.h"

// An invariant of every schedule: if everything on a host happens k times as often, totals are k times as large, and
// ratios and their intervals are the same.

static const double TIMES = 3;
enum { SEED = 11, SECONDS = 150 }; // the load changes after 120

static void start(struct pipeline *p, double times) {
    pipeline_load(p, "tests/data/scenarios/bottleneck.json");
    for (size_t l = 0; l < p->scenario->n_loads; l++)
        for (size_t k = 0; k < p->scenario->loads[l].n_keyframes; k++)
            for (size_t r = 0; r < p->scenario->loads[l].keyframes[k].n_rates; r++)
                p->scenario->loads[l].keyframes[k].rates[r].per_second *= times;
    pipeline_start(p, SECOND_NS / 5, SEED, NULL);
    pipeline_run_until(p, SECONDS);
}

// True where there is a value, which is then so many times as much; some events of this host never happen.
static bool scaled(const struct pipeline *one, const struct pipeline *many, size_t at, double times, const char *what) {
    double before = one->snapshot->values[at], after = many->snapshot->values[at];
    if (isnan(before) && isnan(after))
        return false;
    assert_near(after, times * before, 1e-5, what);
    return true;
}

static void test_scaling_all_rates_scales_totals_and_leaves_ratios(void **state) {
    (void)state;
    struct pipeline one, many;
    start(&one, 1);
    start(&many, TIMES);
    const struct snapshot_layout *layout = one.layout;
    assert_int_equal(many.layout->n_values, layout->n_values);
    size_t totals = 0, ratios = 0;
    for (size_t scope = 0; scope < layout->n_scopes; scope++) {
        for (size_t event = 0; event < layout->n_events; event++)
            totals += scaled(&one, &many, snapshot_event(layout, scope, event), TIMES, "an event");
        for (size_t c = 0; c < layout->n_level1; c++)
            totals += scaled(&one, &many, snapshot_category(layout, scope, c), TIMES, "a category");
        for (size_t m = 0; m < layout->n_metrics; m++) {
            const char *name = one.catalog->metrics[one.plan->metrics[m].metric].name;
            ratios += scaled(&one, &many, snapshot_metric(layout, scope, m), 1, name);
            scaled(&one, &many, snapshot_high(layout, scope, m), 1, name);
        }
        assert_true(scaled(&one, &many, snapshot_covered(layout, scope), 1, "covered time"));
    }
    assert_true(totals > 30 * layout->n_scopes && ratios > 30 * layout->n_scopes);
    pipeline_stop(&many);
    pipeline_stop(&one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaling_all_rates_scales_totals_and_leaves_ratios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
