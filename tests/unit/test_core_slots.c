// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "core/base/random.h"
#include "core/counts/core_slots.h"
#include "core/diagnosis/bound.h"
#include "core/tally/derive.h"
#include "tests/build/build.h"

#define FREQUENCY_HZ 3e9
#define SECOND_NS UINT64_C(1000000000)

// ---- a core's slots from its threads' ----

static struct core_thread thread(double all, double used, double front, double back, double contention) {
    return (struct core_thread){{all, used, front, back}, contention};
}

static void expect_share(const struct core_share *share, double all, double front, double back) {
    assert_true(fabs(share->slots[CORE_SLOTS_ALL] - all) < 1e-9);
    assert_true(fabs(share->slots[CORE_SLOTS_FRONTEND] - front) < 1e-9);
    assert_true(fabs(share->slots[CORE_SLOTS_BACKEND] - back) < 1e-9);
}

static void test_a_thread_without_a_sibling_has_the_slots_of_its_cycles(void **state) {
    (void)state;
    const struct core_clock clock = {1000, INFINITY};
    struct core_thread one = thread(600, 300, 100, 200, 0);
    struct core_share share;
    core_slots_divide(&one, 1, &clock, &share);
    expect_share(&share, 600, 100, 200);
    assert_true(share.errors[ROWS_ERROR_FRONTEND] == 0 && share.errors[ROWS_ERROR_BACKEND] == 0);
    one = thread(600, 300, 50, 100, 150); // the sibling is not measured: it got 150
    core_slots_divide(&one, 1, &clock, &share);
    expect_share(&share, 450, 50, 100);
    const struct core_thread none = {0};
    core_slots_divide(&none, 1, &clock, &share);
    expect_share(&share, 0, 0, 0);
}

static void test_two_busy_threads_have_the_slots_of_one_core(void **state) {
    (void)state;
    // each is served in half of the slots, and uses 200 of its 500
    const struct core_thread busy[] = {thread(1000, 200, 100, 200, 500), thread(1000, 200, 100, 200, 500)};
    struct core_share shares[2];
    core_slots_divide(busy, 2, &(struct core_clock){1000, 1000}, shares);
    for (size_t i = 0; i < 2; i++)
        expect_share(&shares[i], 500, 100, 200);
    core_slots_divide(busy, 2, &(struct core_clock){4000, INFINITY}, shares); // also when the clock is not known
    for (size_t i = 0; i < 2; i++)
        expect_share(&shares[i], 500, 100, 200);
    assert_true(shares[0].errors[ROWS_ERROR_FRONTEND] == 0);
}

static void test_a_sleeping_sibling_changes_nothing(void **state) {
    (void)state;
    const struct core_thread threads[] = {thread(800, 300, 100, 400, 0), {{0}, 0}};
    struct core_share shares[2];
    core_slots_divide(threads, 2, &(struct core_clock){1000, 1000}, shares);
    expect_share(&shares[0], 800, 100, 400);
    expect_share(&shares[1], 0, 0, 0);
    assert_true(shares[0].errors[ROWS_ERROR_BACKEND] == 0);
}

static void test_half_asleep_the_overlap_lies_between_its_bounds_with_an_error(void **state) {
    (void)state;
    // Each runs half of the time. 20 slots were lost to the other, so at least 20 overlap. Each wants 30 % of its
    // slots, so at most 20 / 0.09 = 222 of 500 do. Independent threads have 250 in common.
    const struct core_thread threads[] = {thread(500, 140, 100, 250, 10), thread(500, 140, 250, 100, 10)};
    struct core_share shares[2];
    core_slots_divide(threads, 2, &(struct core_clock){1000, INFINITY}, shares);
    double overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(fabs(overlap - 20 / 0.09) < 1e-9);
    double error = 0; // of an overlap anywhere between 20 and 222, if 222 is taken: their distance / sqrt(3)
    for (size_t i = 0; i < 2; i++)
        error += shares[i].errors[ROWS_ERROR_FRONTEND] + shares[i].errors[ROWS_ERROR_BACKEND];
    assert_true(fabs(error - (20 / 0.09 - 20) / sqrt(3)) < 1e-9);
    core_slots_divide(threads, 2, &(struct core_clock){2000, INFINITY}, shares); // a faster clock: 125 in common
    overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(fabs(overlap - 125) < 1e-9);
    core_slots_divide(threads, 2, &(struct core_clock){820, 820}, shares); // no more than 820 slots: at least 180
    overlap = 1000 - shares[0].slots[CORE_SLOTS_ALL] - shares[1].slots[CORE_SLOTS_ALL];
    assert_true(overlap >= 180 && overlap <= 20 / 0.09 + 1e-9);
}

// Whatever the counts are, also impossible ones: nothing is negative, and what is dispatched has its slots.
static void test_shares_of_any_counts_are_sound(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int turn = 0; turn < 20000; turn++) {
        struct core_thread threads[4];
        struct core_share shares[4];
        size_t n = 1 + random_below(&random, 4);
        double used = 0, all = 0, slots = 0, most = 0;
        for (size_t i = 0; i < n; i++) {
            double of[5];
            for (size_t v = 0; v < 5; v++)
                of[v] = random_below(&random, 4) == 0 ? 0 : (double)random_below(&random, 1000);
            threads[i] = thread(of[0], of[1], of[2], of[3], of[4]);
            used += of[1];
            all += of[0];
            most = fmax(most, of[0]);
        }
        const struct core_clock clock = {(double)random_below(&random, 2000),
                                         turn % 2 ? INFINITY : (double)random_below(&random, 2000)};
        core_slots_divide(threads, n, &clock, shares);
        for (size_t i = 0; i < n; i++) {
            const double *of = shares[i].slots;
            assert_true(of[CORE_SLOTS_FRONTEND] >= 0 && of[CORE_SLOTS_BACKEND] >= 0);
            assert_true(of[CORE_SLOTS_ALL] >= threads[i].slots[THREAD_SLOTS_USED]);
            assert_true(shares[i].errors[ROWS_ERROR_FRONTEND] >= 0 && shares[i].errors[ROWS_ERROR_BACKEND] >= 0);
            slots += of[CORE_SLOTS_ALL];
        }
        assert_true(slots <= fmax(all, used) + 1e-6);
        assert_true(n == 1 || slots >= fmax(most, used) - 1e-6);
    }
}

// ---- one core through every spec with SMT ----

// What a thread did in a second, in slots of the width below.
struct thread_truth {
    double cycles, alone;               // awake; awake while the other one slept
    double granted;                     // slots
    double used, retired, front, back;  // of these: used, and of these useful; empty, by the thread's own reason
    double stalled_front, stalled_back; // as AMD counts: also while the other one was served
    double contention;
};

struct core_truth {
    double width, cycles; // in which any thread was awake
    struct thread_truth threads[2];
};

// How a core that both threads want is shared.
enum arbiter {
    IN_TURN,  // each cycle is granted to one of the threads in turn, also if it has nothing to dispatch
    ON_DEMAND // a cycle that only one of them wants is its own
};

// A thread's ways: the share of cycles in which it has something to dispatch, and how much of the width; why it has
// nothing otherwise; how much of it is useful.
struct ways {
    double wants, fills, front, useful;
};

static void serve(struct thread_truth *of, const struct ways *ways, double slots, double wanted) {
    double used = wanted * ways->fills, empty = slots - wanted;
    of->granted += slots;
    of->used += used;
    of->front += wanted - used + empty * ways->front;
    of->back += empty * (1 - ways->front);
}

// As many slots as both threads are awake for.
static void serve_both(struct core_truth *core, const struct ways *ways, enum arbiter arbiter, double slots) {
    double a = ways[0].wants, b = ways[1].wants, neither = (1 - a) * (1 - b) * slots;
    for (size_t i = 0; i < 2; i++) {
        struct thread_truth *of = &core->threads[i];
        double wants = ways[i].wants, others = ways[1 - i].wants;
        double served = wants * slots * (arbiter == IN_TURN ? 0.5 : 1 - others / 2), before_front = of->front;
        double before_back = of->back;
        serve(of, &ways[i], arbiter == IN_TURN ? slots / 2 : served + neither / 2, served);
        if (arbiter == IN_TURN) {
            of->stalled_front += of->front - before_front;
            of->stalled_back += of->back - before_back;
            of->contention += slots / 2;
        } else {
            of->stalled_front += served * (1 - ways[i].fills) + (1 - wants) * slots * ways[i].front;
            of->stalled_back += (1 - wants) * slots * (1 - ways[i].front);
            of->contention += a * b * slots / 2;
        }
    }
}

static void serve_alone(struct core_truth *core, const struct ways *ways, size_t i, double slots) {
    struct thread_truth *of = &core->threads[i];
    double front = of->front, back = of->back;
    serve(of, &ways[i], slots, ways[i].wants * slots);
    of->stalled_front += of->front - front;
    of->stalled_back += of->back - back;
}

static double between(uint64_t *random, double from, double to) {
    return from + (to - from) * (double)random_below(random, 1000001) / 1e6;
}

// Two threads of any ways that are awake for any time, together for any possible one. `busy`: all the time.
static struct core_truth any_core(uint64_t *random, double width, enum arbiter arbiter, bool busy) {
    struct core_truth core = {.width = width};
    struct ways ways[2];
    double awake[2], both;
    for (size_t i = 0; i < 2; i++) {
        ways[i] = (struct ways){between(random, 0.05, 0.95), between(random, 0.4, 1), between(random, 0, 1),
                                between(random, 0.7, 1)};
        awake[i] = busy ? 1 : random_below(random, 5) == 0 ? 0 : between(random, 0.01, 1);
    }
    both = between(random, fmax(awake[0] + awake[1] - 1, 0), fmin(awake[0], awake[1]));
    for (size_t i = 0; i < 2; i++) {
        core.threads[i].cycles = awake[i] * FREQUENCY_HZ;
        core.threads[i].alone = (awake[i] - both) * FREQUENCY_HZ;
        serve_alone(&core, ways, i, width * core.threads[i].alone);
    }
    core.cycles = (awake[0] + awake[1] - both) * FREQUENCY_HZ;
    serve_both(&core, ways, arbiter, width * both * FREQUENCY_HZ);
    for (size_t i = 0; i < 2; i++)
        core.threads[i].retired = core.threads[i].used * ways[i].useful;
    return core;
}

static double true_share(const struct core_truth *core, enum category category) {
    double sum = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct thread_truth *of = &core->threads[i];
        const double slots[] = {[CATEGORY_FRONTEND_BOUND] = of->front,
                                [CATEGORY_BAD_SPECULATION] = of->used - of->retired,
                                [CATEGORY_RETIRING] = of->retired,
                                [CATEGORY_BACKEND_BOUND] = of->back};
        sum += slots[category];
    }
    return sum / (core->width * core->cycles);
}

// What the PMUs count, by their names. Recovery takes no cycles of its own here, and nothing is dropped.
static double count_of(const struct thread_truth *of, const char *event) {
    const struct {
        const char *name;
        double count;
    } counts[] = {{"CPU_CLK_UNHALTED.THREAD", of->cycles},
                  {"CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", of->alone / 100},
                  {"CPU_CLK_UNHALTED.REF_XCLK", of->cycles / 100},
                  {"UOPS_ISSUED.ANY", of->used},
                  {"UOPS_RETIRED.RETIRE_SLOTS", of->retired},
                  {"UOPS_RETIRED.SLOTS", of->retired},
                  {"IDQ_UOPS_NOT_DELIVERED.CORE", of->front},
                  {"IDQ_BUBBLES.CORE", of->front},
                  {"TOPDOWN.BACKEND_BOUND_SLOTS", of->back},
                  {"TOPDOWN.SLOTS_P", of->granted},
                  {"slots", of->granted},
                  {"topdown-retiring", of->retired},
                  {"topdown-bad-spec", of->used - of->retired},
                  {"topdown-fe-bound", of->front},
                  {"topdown-be-bound", of->back},
                  {"ls_not_halted_cyc", of->cycles},
                  {"de_no_dispatch_per_slot.no_ops_from_frontend", of->stalled_front},
                  {"de_no_dispatch_per_slot.backend_stalls", of->stalled_back},
                  {"de_no_dispatch_per_slot.smt_contention", of->contention},
                  {"de_src_op_disp.all", of->used},
                  {"ex_ret_ops", of->retired}};
    for (size_t i = 0; i < N_OF(counts); i++)
        if (strcmp(counts[i].name, event) == 0)
            return counts[i].count;
    return 0;
}

struct machine {
    const char *spec;
    struct catalog *catalog;
    unsigned counters; // general ones
    bool unknown;      // the PMU does not say which events it has
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot;
};

static struct catalog *load(const char *spec, bool without_topdown) {
    static struct errors errors;
    struct environment environment;
    struct catalog_builder *builder = NULL;
    char path[128];
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 1;
    environment.facts.literals[LITERAL_HAS_PMEM] = 0;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    (void)snprintf(path, sizeof path, "specs/%s.json", spec);
    if (spec_json_read(path, &environment, &errors, &builder) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    if (without_topdown)
        catalog_builder_drop_topdown(builder);
    return catalog_builder_finish(builder);
}

static struct plan *level1_plan(const struct catalog *catalog, unsigned counters, bool unknown) {
    unsigned group = 0;
    uint8_t *support = malloc(catalog->n_events);
    assert_non_null(support);
    memset(support, unknown ? PLAN_SUPPORT_UNKNOWN : PLAN_SUPPORTED, catalog->n_events);
    while (!(catalog->groups[group].n_metrics <= 6 &&
             catalog->groups[group].metrics[0] == catalog->level1.categories[0].metric))
        assert_true(++group < catalog->n_groups);
    const struct plan_selection selection = {group, 1};
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog,
                                                          .general_counters = counters,
                                                          .selections = &selection,
                                                          .n_selections = 1,
                                                          .slot_ns = SECOND_NS / 5,
                                                          .support = support});
    free(support);
    assert_true(plan->level1_unit >= 0);
    return plan;
}

// Begins to measure anew.
static void machine_begin(struct machine *machine) {
    const struct topology_source cpus[] = {{.id = 0, .core = 0, .package = 0, .selected = true},
                                           {.id = 1, .core = 0, .package = 0, .selected = true}};
    struct topology *topology = build_topology(cpus, 2);
    topology->maximum_frequency_hz = FREQUENCY_HZ;
    struct plan *plan = level1_plan(machine->catalog, machine->counters, machine->unknown);
    machine->layout = build_layout(plan, topology);
    machine->derive = derive_new(machine->layout);
    machine->readings = readings_new(plan, topology);
    assert_true(machine->derive && machine->readings);
    readings_begin(machine->readings, 0, SECOND_NS);
}

static void machine_end(struct machine *machine) {
    machine->snapshot = snapshot_unref(machine->snapshot);
    machine->readings = readings_free(machine->readings);
    machine->derive = derive_free(machine->derive);
    machine->layout = snapshot_layout_unref(machine->layout);
}

static void count_window(struct machine *machine, const struct core_truth *core, unsigned cpu, unsigned g) {
    const struct plan_group *group = &machine->layout->plan->groups[g];
    struct window *window = readings_add(machine->readings, cpu, g, group->n_events);
    window->result = WINDOW_COMPLETE;
    window->enabled_ns = window->running_ns = SECOND_NS;
    for (size_t i = 0; i < group->n_events; i++)
        window->counts[i] = (uint64_t)count_of(&core->threads[cpu], machine->catalog->events[group->events[i]].name);
}

// Two rounds that are alike, so that only what is estimated has an error.
static void measure(struct machine *machine, const struct core_truth *core) {
    const struct plan *plan = machine->layout->plan;
    for (int round = 0; round < 2; round++) {
        struct readings *readings = machine->readings;
        for (unsigned g = 0; g < plan->n_groups; g++)
            for (unsigned cpu = 0; cpu < 2; cpu++)
                count_window(machine, core, cpu, g);
        readings->end_ns = readings->start_ns + plan->n_groups * SECOND_NS;
        readings->round_over = true;
        snapshot_unref(machine->snapshot);
        machine->snapshot = snapshot_new(machine->layout);
        derive_round(machine->derive, readings, machine->snapshot);
        readings_begin(readings, readings->round + 1, readings->end_ns);
    }
}

struct found {
    double value, low, high;
};

static struct found share_of(const struct machine *machine, enum category category) {
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].category != category)
        assert_true(++i < level1->n_categories);
    size_t m = (size_t)machine->layout->plan->place[level1->categories[i].metric];
    const double *values = machine->snapshot->values;
    return (struct found){values[snapshot_metric(machine->layout, 0, m)], values[snapshot_low(machine->layout, 0, m)],
                          values[snapshot_high(machine->layout, 0, m)]};
}

static double total_of(const struct machine *machine, enum category category) {
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].category != category)
        assert_true(++i < level1->n_categories);
    return machine->snapshot->values[snapshot_category(machine->layout, 0, i)];
}

static enum category verdict_of(const struct machine *machine) {
    struct tree *tree = tree_new(machine->layout);
    assert_non_null(tree);
    tree_evaluate(tree, machine->snapshot, 0);
    struct bound bound = bound_find(tree);
    assert_true(bound.n > 0);
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].metric != tree->nodes[bound.path[0]].metric)
        assert_true(++i < level1->n_categories);
    tree_free(tree);
    return level1->categories[i].category;
}

// The verdict of the true shares, by the thresholds that all vendors share; CATEGORY_N: too close to call.
static enum category true_verdict(const struct core_truth *core, double margin) {
    static const struct {
        double low, high; // thresholds of all vendors lie between these
    } thresholds[] = {{0.15, 0.2}, {0.1, 0.2}, {0.7, 0.7}, {0.2, 0.2}};
    enum category best = CATEGORY_N;
    bool best_high = false;
    for (int c = 0; c < CATEGORY_SMT_CONTENTION; c++) {
        double share = true_share(core, (enum category)c);
        bool high = share > thresholds[c].high + margin;
        if (!high && share > thresholds[c].low - margin)
            return CATEGORY_N;
        if (best == CATEGORY_N || (high && !best_high) || (high == best_high && share > true_share(core, best))) {
            best = (enum category)c;
            best_high = high;
        }
    }
    for (int c = 0; c < CATEGORY_SMT_CONTENTION; c++)
        if (c != (int)best && fabs(true_share(core, best) - true_share(core, (enum category)c)) < margin)
            return CATEGORY_N;
    return best;
}

static const struct {
    const char *name;
    bool without_topdown;
} machines[] = {{"sandy-bridge-ep", false},
                {"ivy-bridge-ep", false},
                {"haswell-ep", false},
                {"broadwell-ep", false},
                {"skylake-sp", false},
                {"cascade-lake", false},
                {"ice-lake-sp", false},
                {"ice-lake-sp", true},
                {"sapphire-rapids", false},
                {"sapphire-rapids", true},
                {"emerald-rapids", false},
                {"granite-rapids", false},
                {"zen4", false},
                {"zen5", false},
                {"zen6", false}};

// How far off all machines are together.
struct score {
    double largest, sum;
    size_t n, within, verdicts;
};

static void compare(const struct machine *machine, const struct core_truth *core, enum arbiter arbiter,
                    struct score *score) {
    bool estimates = machine->catalog->level1.per_thread;
    double retired = core->threads[0].retired + core->threads[1].retired, margin = 1e-6;
    for (int c = 0; c < CATEGORY_SMT_CONTENTION; c++) {
        struct found found = share_of(machine, (enum category)c);
        double wanted = true_share(core, (enum category)c), off = fabs(found.value - wanted);
        bool within = found.low - 1e-6 <= wanted && wanted <= found.high + 1e-6;
        // on demand, AMD's PMU also counts why a thread stalls while the other one is served
        bool divided = arbiter == ON_DEMAND && (c == CATEGORY_FRONTEND_BOUND || c == CATEGORY_BACKEND_BOUND);
        score->within += within;
        if (estimates ? !within && !divided : off > 1e-6)
            fail_msg("%s: %s is %g (%g to %g), should be %g", machine->spec, category_name((enum category)c),
                     found.value, found.low, found.high, wanted);
        margin = fmax(margin, fmax(off, fmax(found.high - found.value, found.value - found.low)));
        score->largest = fmax(score->largest, off);
        score->sum += off;
        score->n++;
    }
    double peak = core->width * FREQUENCY_HZ * machine->layout->topology->sockets[0].cores;
    double seconds = (double)machine->snapshot->end_ns / 1e9 - 1;
    double total = total_of(machine, CATEGORY_RETIRING) / seconds;
    if (estimates || arbiter == IN_TURN)
        assert_true(fabs(total / peak - retired / peak) < 1e-6);
    enum category wanted = true_verdict(core, margin + 1e-6);
    if (wanted == CATEGORY_N)
        return;
    assert_string_equal(category_name(verdict_of(machine)), category_name(wanted));
    score->verdicts++;
}

static void compare_machine(struct machine *machine, enum arbiter arbiter, bool busy, uint64_t seed,
                            struct score *score) {
    enum { TURNS = 100 };
    for (int turn = 0; turn < TURNS; turn++) {
        struct core_truth core = any_core(&seed, machine->catalog->level1.width, arbiter, busy);
        if (!(core.cycles > 0))
            continue;
        machine_begin(machine);
        measure(machine, &core);
        compare(machine, &core, arbiter, score);
        machine_end(machine);
    }
}

static struct score compare_all(enum arbiter arbiter, bool busy, uint64_t seed, bool amd) {
    struct score score = {0};
    for (size_t i = 0; i < N_OF(machines); i++) {
        struct machine machine = {.spec = machines[i].name,
                                  .catalog = load(machines[i].name, machines[i].without_topdown)};
        machine.counters = machine.catalog->general_counters;
        if (machine.catalog->level1.per_thread == amd)
            compare_machine(&machine, arbiter, busy, seed, &score);
        catalog_free(machine.catalog);
    }
    printf("%s, %s, %s: shares are off by %.4f on average, %.3f at most; %.1f %% in their intervals; %zu verdicts\n",
           amd ? "AMD" : "Intel", arbiter == IN_TURN ? "in turn" : "on demand", busy ? "busy" : "half asleep",
           score.sum / (double)score.n, score.largest, 100 * (double)score.within / (double)score.n, score.verdicts);
    return score;
}

static void test_one_core_is_the_same_on_every_vendor(void **state) {
    (void)state;
    const char *given = getenv("TOPDOWND_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    printf("seed %llu\n", (unsigned long long)seed);
    size_t verdicts = 0;
    for (int busy = 0; busy < 2; busy++)
        for (int arbiter = IN_TURN; arbiter <= ON_DEMAND; arbiter++) {
            struct score intel = compare_all((enum arbiter)arbiter, busy, seed, false);
            struct score amd = compare_all((enum arbiter)arbiter, busy, seed, true);
            assert_true(intel.largest < 1e-6);
            assert_true(intel.verdicts > 100);
            verdicts += amd.verdicts;
            assert_true(amd.sum / (double)amd.n < 0.05);
            assert_true((double)amd.within >= 0.97 * (double)amd.n);
        }
    assert_true(verdicts > 200);
}

// ---- windows ----

// Two threads that are served in turn, all the time; each loses half of its slots.
static struct core_truth busy_core(void) {
    uint64_t random = 7;
    return any_core(&random, 6, IN_TURN, true);
}

static double contention_total(const struct machine *machine) {
    return machine->snapshot->values[snapshot_contention(machine->layout, 0)];
}

static double gauge_of(const struct machine *machine, const char *export_name) {
    const struct plan *plan = machine->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strcmp(machine->catalog->metrics[plan->metrics[m].metric].export_name, export_name) == 0)
            return machine->snapshot->values[snapshot_metric(machine->layout, 0, m)];
    fail_msg("%s is not planned", export_name);
    return NAN;
}

static void test_what_siblings_take_from_one_another_is_counted_apart(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6};
    struct core_truth core = busy_core();
    machine_begin(&machine);
    measure(&machine, &core);
    double slots = 2 * 6 * FREQUENCY_HZ; // of the core, in two seconds
    const double *values = machine.snapshot->values;
    assert_true(fabs(values[snapshot_pipeline_slots(machine.layout, 0)] / slots - 1) < 1e-6);
    assert_true(fabs(contention_total(&machine) / slots - 1) < 1e-6); // each thread lost half of twice as many
    assert_true(fabs(gauge_of(&machine, "smt_contention_ratio") - 0.5) < 1e-6);
    assert_true(values[snapshot_deviation(machine.layout, 0)] < 1e-6);
    machine_end(&machine);
    catalog_free(machine.catalog);
}

// On four counters level 1 is counted in two parts. The core's slots are made of the joined ones.
static void test_a_composite_is_joined_before_it_is_divided(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 4};
    struct core_truth core = busy_core();
    machine_begin(&machine);
    assert_int_equal(machine.layout->plan->n_groups, 2);
    measure(&machine, &core);
    for (int c = 0; c < CATEGORY_SMT_CONTENTION; c++)
        assert_true(fabs(share_of(&machine, (enum category)c).value - true_share(&core, (enum category)c)) < 1e-6);
    machine_end(&machine);
    catalog_free(machine.catalog);
}

static void end_round(struct machine *machine, unsigned seconds) {
    struct readings *readings = machine->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    readings->round_over = true;
    snapshot_unref(machine->snapshot);
    machine->snapshot = snapshot_new(machine->layout);
    derive_round(machine->derive, readings, machine->snapshot);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

static void fail_last(struct machine *machine) {
    struct window *window = &machine->readings->windows[machine->readings->n_windows - 1];
    window->result = WINDOW_FAILED;
    window->error = -5;
    window->running_ns = 0;
}

static struct core_thread counted(const struct thread_truth *of) {
    return thread(6 * of->cycles, of->used, of->stalled_front, of->stalled_back, of->contention);
}

// In each of three slots both CPUs count, except that one has no data in the second. Without its sibling's window a
// thread has the slots of its cycles except those that its sibling got; the windows after that are of one moment again.
static void test_windows_are_paired_by_their_moment(void **state) {
    (void)state;
    uint64_t random = 7;
    const struct core_truth core = any_core(&random, 6, ON_DEMAND, true);
    const struct core_thread threads[] = {counted(&core.threads[0]), counted(&core.threads[1])};
    struct core_share both[2], alone[2];
    core_slots_divide(threads, 2, &(struct core_clock){6 * FREQUENCY_HZ, 6 * FREQUENCY_HZ}, both);
    for (size_t i = 0; i < 2; i++)
        core_slots_divide(&threads[i], 1, &(struct core_clock){6 * FREQUENCY_HZ, 6 * FREQUENCY_HZ}, &alone[i]);
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6};
    for (unsigned failing = 0; failing < 2; failing++) {
        machine_begin(&machine);
        for (unsigned slot = 0; slot < 3; slot++)
            for (unsigned cpu = 0; cpu < 2; cpu++) {
                count_window(&machine, &core, cpu, 0);
                if (slot == 1 && cpu == failing)
                    fail_last(&machine);
            }
        end_round(&machine, 3);
        unsigned other = 1 - failing;
        double wanted[2]; // of the failing CPU's round two windows are known, of the other one's all three
        wanted[failing] = 3 * both[failing].slots[CORE_SLOTS_ALL];
        wanted[other] = 2 * both[other].slots[CORE_SLOTS_ALL] + alone[other].slots[CORE_SLOTS_ALL];
        for (size_t cpu = 0; cpu < 2; cpu++) {
            size_t place = snapshot_pipeline_slots(machine.layout, snapshot_scope_cpu(machine.layout, cpu));
            assert_true(fabs(machine.snapshot->values[place] / wanted[cpu] - 1) < 1e-6);
        }
        assert_true(fabs(alone[other].slots[CORE_SLOTS_ALL] / both[other].slots[CORE_SLOTS_ALL] - 1) > 0.01);
        machine_end(&machine);
    }
    catalog_free(machine.catalog);
}

// Threads that never run together never count contention. The PMU does not say which events it has.
static void test_no_contention_is_no_reason_to_doubt_level_1(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6, .unknown = true};
    struct core_truth core = {.width = 6, .cycles = 1e9};
    const struct ways ways[2] = {{0.5, 0.8, 0.5, 0.9}, {0.5, 0.8, 0.5, 0.9}};
    core.threads[0].cycles = core.threads[0].alone = 1e9;
    serve_alone(&core, ways, 0, 6e9);
    core.threads[0].retired = core.threads[0].used * 0.9;
    machine_begin(&machine);
    measure(&machine, &core);
    assert_true(fabs(share_of(&machine, CATEGORY_RETIRING).value - true_share(&core, CATEGORY_RETIRING)) < 1e-6);
    assert_true(contention_total(&machine) == 0);
    machine_end(&machine);
    core.threads[0].stalled_back = 0; // an event that is part of level 1 is dead
    machine_begin(&machine);
    measure(&machine, &core);
    assert_true(isnan(share_of(&machine, CATEGORY_RETIRING).value));
    assert_true(isnan(machine.snapshot->values[snapshot_pipeline_slots(machine.layout, 0)]));
    machine_end(&machine);
    catalog_free(machine.catalog);
}

// Specs of earlier versions, for old recordings.
static void test_a_spec_whose_level_1_is_that_of_one_thread_still_loads(void **state) {
    (void)state;
    static const char text[] =
        "{\"product_configuration\": {\"product_name\": \"X\"}, \"topdownd\": {\"vendor\": \"V\", \"pmu\": \"cpu\", \"level1\": "
        "{\"pipeline_slots\": \"6 * C\", \"width\": 6, \"per_thread\": true, \"categories\": {\"retiring\": \"r\", "
        "\"smt_contention\": \"s\"}}}, \"events\": {\"C\": {\"code\": 1}, \"R\": {\"code\": 2}, \"S\": {\"code\": "
        "3}}, \"metrics\": {\"r\": {\"formula\": \"R / (6 * C)\", \"title\": \"r\", \"units\": \"share of slots\"}, "
        "\"s\": {\"formula\": \"S / (6 * C)\", \"title\": \"s\", \"units\": \"share of slots\"}}, \"groups\": "
        "{\"metrics\": {\"G\": {\"metrics\": [\"r\", \"s\"]}}}}";
    static struct errors errors;
    struct environment environment;
    struct catalog *catalog = NULL;
    environment_init(&environment);
    if (spec_json_parse("x.json", text, strlen(text), &environment, &errors, &catalog) < 0)
        fail_msg("%s", errors.items[0].text);
    assert_false(catalog->level1.per_thread);
    assert_int_equal(catalog->level1.n_categories, 2);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_without_a_sibling_has_the_slots_of_its_cycles),
        cmocka_unit_test(test_two_busy_threads_have_the_slots_of_one_core),
        cmocka_unit_test(test_a_sleeping_sibling_changes_nothing),
        cmocka_unit_test(test_half_asleep_the_overlap_lies_between_its_bounds_with_an_error),
        cmocka_unit_test(test_shares_of_any_counts_are_sound),
        cmocka_unit_test(test_one_core_is_the_same_on_every_vendor),
        cmocka_unit_test(test_what_siblings_take_from_one_another_is_counted_apart),
        cmocka_unit_test(test_a_composite_is_joined_before_it_is_divided),
        cmocka_unit_test(test_windows_are_paired_by_their_moment),
        cmocka_unit_test(test_no_contention_is_no_reason_to_doubt_level_1),
        cmocka_unit_test(test_a_spec_whose_level_1_is_that_of_one_thread_still_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
