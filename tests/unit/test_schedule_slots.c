// SPDX-License-Identifier: Apache-2.0
#include "tests/build/shipped.h"
#include "tests/unit/plan_check.h"

#include "core/plan/schedule.h"

// How long slots and rounds are, on hosts of any size and whatever of a shipped spec is measured.

#define SLOT_LEAST_NS 200000000.0
#define ROUND_MOST_NS 15000000000.0

enum { CORES_MAX = 4096, SELECTIONS_MAX = 16 };

// ---- slots ----

static void test_slots_grow_with_the_number_of_cores(void **state) {
    (void)state;
    assert_true(schedule_slot_ns(1) == 200000000 && schedule_slot_ns(32) == 200000000);
    assert_true(schedule_slot_ns(80) == 287500000); // in the middle
    assert_true(schedule_slot_ns(128) == 375000000);
    assert_true(schedule_slot_ns(192) == 562500000);
    assert_true(schedule_slot_ns(256) == 750000000 && schedule_slot_ns(100000) == 750000000);
    for (size_t cores = 1; cores < 2000; cores++)
        assert_true(cores <= 32 || cores > 256 ? schedule_slot_ns(cores) >= schedule_slot_ns(cores - 1)
                                               : schedule_slot_ns(cores) > schedule_slot_ns(cores - 1));
}

// ---- rounds ----

// A busy core's round lasts at most 15 s, or as long as its slots last at 200 ms; `longer` times that if the budget
// asks for it. Slots are as long as they can be. Returns the round's length.
static double check_lengths(const struct plan_request *request, size_t n_cores, double longer) {
    struct plan *plan;
    const char *spec = request->catalog->product.spec ? request->catalog->product.spec : "random";
    assert_int_equal(schedule_make_plan(request, n_cores, longer, &plan), 0);
    double slots = plan_slots(plan), usual = (double)schedule_slot_ns(n_cores), round = (double)plan->round_ns;
    double fitting = slots > 0 ? ROUND_MOST_NS * (1 - request->idle) / slots : usual;
    double wanted = fmax(fmin(usual, fitting), SLOT_LEAST_NS) * longer;
    double most = fmax(ROUND_MOST_NS, slots * SLOT_LEAST_NS / (1 - request->idle)) * longer;
    if (fabs((double)plan->slot_ns - wanted) > longer + 1)
        fail_msg("%s: %g slots of %.9f s on %zu cores, should be %.9f s", spec, slots, (double)plan->slot_ns * 1e-9,
                 n_cores, wanted * 1e-9);
    if (slots > 0 && round > most + (longer > 1 ? slots / (1 - request->idle) : 1)) // slots are whole nanoseconds
        fail_msg("%s: a round of %g slots lasts %.9f s on %zu cores", spec, slots, round * 1e-9, n_cores);
    plan_free(plan);
    return slots > 0 ? round : 0;
}

// Two event groups that share no event, of so many slots and of one.
static void check_two_groups(unsigned weight, double idle, size_t n_cores, double longer) {
    struct catalog_builder *builder = empty_builder();
    metric_of(builder, "ab", "A / B", NULL);
    metric_of(builder, "cd", "C / D", NULL);
    group_of(builder, "Many", "ab");
    group_of(builder, "One", "cd");
    const struct plan_selection selections[] = {{0, weight}, {1, 1}};
    struct catalog *catalog = catalog_builder_finish(builder);
    (void)check_lengths(
        &(struct plan_request){
            .catalog = catalog, .general_counters = 2, .selections = selections, .n_selections = 2, .idle = idle},
        n_cores, longer);
    catalog_free(catalog);
}

static void test_a_round_lasts_15_s_at_most_where_slots_of_200_ms_allow(void **state) {
    (void)state;
    static const double idles[] = {0, 0.05, 0.1, 0.5, 0.9}, longer[] = {1, 1.5, 2.25, 32};
    uint64_t random = seed_begin();
    for (size_t n_cores = 1; n_cores <= CORES_MAX; n_cores += 1 + n_cores / 64) {
        unsigned weight = 1 + (unsigned)random_below(&random, PLAN_WEIGHT_MAX);
        check_two_groups(weight, idles[random_below(&random, N_OF(idles))], n_cores,
                         longer[random_below(&random, N_OF(longer))]);
    }
}

// ---- what ships ----

static struct plan_request request_of(const struct catalog *catalog, const struct plan_selection *selections,
                                      size_t n) {
    return (struct plan_request){.catalog = catalog,
                                 .general_counters = catalog->general_counters,
                                 .selections = selections,
                                 .n_selections = n,
                                 .idle = 0.1};
}

static void check_defaults(struct catalog *catalog) {
    struct plan_selection selections[SELECTIONS_MAX];
    unsigned n = 0;
    for (int group; (group = catalog_default_group(catalog, n + 1)) >= 0; n++) {
        assert_true(n + 1 < SELECTIONS_MAX);
        selections[n] = (struct plan_selection){.group = (unsigned)group};
    }
    struct plan_request request = request_of(catalog, selections, n);
    static const size_t cores[] = {1, 32, 80, 256, CORES_MAX};
    for (size_t i = 0; i < N_OF(cores); i++) {
        double round = check_lengths(&request, cores[i], 1);
        if (round > ROUND_MOST_NS)
            fail_msg("%s: a round of the defaults lasts %.9f s on %zu cores", catalog->product.spec, round * 1e-9,
                     cores[i]);
    }
}

static void test_on_every_cpu_a_round_of_the_defaults_lasts_15_s_at_most(void **state) {
    (void)state;
    shipped_for_every_cpu(check_defaults);
}

// All metric groups at once. docs/measurement.md names those whose rounds are longer: with the counters that the spec
// states, and with SMT and the NMI watchdog, which take some.
static void check_all(struct catalog *catalog) {
    static const struct {
        const char *spec;
        unsigned slots[2];
    } longer[] = {{"broadwell-ep", {60, 78}},
                  {"cascade-lake", {86, 105}},
                  {"haswell-ep", {46, 72}},
                  {"ivy-bridge-ep", {54, 78}},
                  {"skylake-sp", {87, 104}}};
    size_t of = 0;
    while (of < N_OF(longer) && strcmp(longer[of].spec, catalog->product.spec) != 0)
        of++;
    struct plan_selection *selections = calloc(catalog->n_groups, sizeof *selections);
    assert_true(selections);
    for (unsigned g = 0; g < catalog->n_groups; g++)
        selections[g] = (struct plan_selection){.group = g};
    struct plan_request request = request_of(catalog, selections, catalog->n_groups);
    for (unsigned taken = 0; taken < 2; taken++) {
        request.smt_at_boot = request.nmi_watchdog = taken;
        double shortest = of < N_OF(longer) ? longer[of].slots[taken] * SLOT_LEAST_NS / (1 - request.idle) : 0;
        double most = fmax(shortest, ROUND_MOST_NS), round = check_lengths(&request, taken ? 33 : CORES_MAX, 1);
        if (round > most + 1)
            fail_msg("%s: a round of all groups lasts %.9f s", catalog->product.spec, round * 1e-9);
    }
    free(selections);
}

static void test_a_round_of_all_groups_lasts_15_s_at_most_but_for_five_old_cpus(void **state) {
    (void)state;
    shipped_for_every_cpu(check_all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_grow_with_the_number_of_cores),
        cmocka_unit_test(test_a_round_lasts_15_s_at_most_where_slots_of_200_ms_allow),
        cmocka_unit_test(test_on_every_cpu_a_round_of_the_defaults_lasts_15_s_at_most),
        cmocka_unit_test(test_a_round_of_all_groups_lasts_15_s_at_most_but_for_five_old_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
