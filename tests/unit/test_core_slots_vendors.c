// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/one_core.h"

#include "core/diagnosis/bound.h"

// One core through every spec with SMT: shares and verdicts are those of the core, whoever made it.

static double total_of(const struct machine *machine, enum category category) {
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].category != category)
        assert_true(++i < level1->n_categories);
    return machine->snapshot->values[snapshot_category(machine->layout, 0, i)];
}

static enum category verdict_of(const struct machine *machine) {
    assert_int_equal(bound_fill(machine->snapshot), 0);
    const struct verdict *verdict = &machine->snapshot->verdicts[0].now;
    assert_true(verdict->n > 0);
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].metric != verdict->path[0])
        assert_true(++i < level1->n_categories);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_core_is_the_same_on_every_vendor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
