// SPDX-License-Identifier: Apache-2.0
//
// Measures how close topdownd's values come to the truth, and whether its intervals contain the truth.
//
//     bench_accuracy [--spec NAME] [--seeds N] [--curve | --adaptive | --evidence | --sizes | --bias | --held] [--jobs
//     N]
//
// It simulates minutes of loads whose truth is known exactly (accuracy/load.h). topdownd's schedule (core/plan/plan.h,
// core/estimate/estimate.h as the daemon uses them) measures them, and so do rivals with the same counters: every event
// by itself in turns of 4 ms, whole event groups in turns of 1 s and, as an unaffordable reference, whole event groups
// in turns of 4 ms. A run of less than 200 seeds has a tenth as many of the rivals. Errors of level-1 shares are in
// points; those of misses per 1,000 instructions are relative and weighted by instructions. NAME is neoverse-v2 (the
// default) or sapphire-rapids, whose level 1 counts all the time in fields of 8 bits. docs/estimation.md has the tables
// of the full run and their interpretation. The output marks each missed goal; the program fails if it misses a goal
// that the full run meets. --curve prints error and cost by slot length instead; with --sizes, on sockets of up to 256
// CPUs. --adaptive only compares the adaptive schedule with the fixed one (accuracy/comparison.h), and
// --sizes only measures sockets of up to 256 CPUs (accuracy/sizes.h); other runs do both with a tenth of the seeds.
// --evidence compares the default profile without and with what its back end's verdict leads to
// (core/adapt/evidence.h).
// --bias looks for errors that do not average out, and --held only measures one CPU that sleeps (accuracy/held.h), of
// neoverse-v2, whose run does that, too.

#define HALF_A_SECOND_NS UINT64_C(500000000)

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/accuracy/comparison.h"
#include "bench/accuracy/goals.h"
#include "bench/accuracy/held.h"
#include "bench/accuracy/jobs.h"
#include "bench/accuracy/rates.h"
#include "bench/accuracy/sizes.h"
#include "bench/accuracy/trial.h"
#include "config/spec/spec_json.h"
#include "core/plan/plan_fetch.h"
#include "core/plan/schedule.h"

enum { COMPARISON_N = 4, COMPARISON_SECONDS = 300 }; // settings by loads
enum { FULL_SEEDS = 200, TEST_SEEDS = 20, SLOT_MS = 200 };
static const char *const METHODS[] = {"topdownd", "events, 4 ms", "groups, 1 s", "groups, 4 ms"};

struct rig {
    struct catalog *catalog;
    struct plan_selection *selections; // all metric groups
    struct plan_request request;
    struct setting settings[SETTING_N];
    struct setting comparisons[2]; // a socket, one CPU
    struct setting evidence[2][2]; // likewise; without and with what is fetched
    double *rates;
    uint64_t slot_ns;
    unsigned seeds, jobs;
    unsigned n_settings;
};

static void accuracy_fail(const char *what, int error) {
    (void)fprintf(stderr, "bench_accuracy: %s: %s\n", what, strerror(-error));
    exit(EXIT_FAILURE);
}

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        accuracy_fail("memory", -ENOMEM);
    return made;
}

// ---- the rig ----

// The plan of a rig's setting.
struct wanted {
    const struct rig *rig;
    int setting;
};

static struct plan *plan_selected(const struct rig *rig, unsigned counters) {
    struct plan_request request = rig->request;
    struct plan *plan;
    request.general_counters = counters;
    int r = plan_new(&request, &plan);
    if (r < 0)
        accuracy_fail("plan", r);
    return plan;
}

// Gives the plan another round: level 1 in `level1` slots, and `others` slots for at most that many other event groups.
static void set_round(struct plan *plan, unsigned level1, unsigned others, unsigned n_others) {
    free(plan->round);
    plan->n_round = level1 + others;
    plan->round = array(plan->n_round, sizeof *plan->round);
    unsigned entry = 0;
    while (entry < level1)
        plan->round[entry++] = (unsigned)plan->level1_unit;
    for (unsigned i = 0; entry < plan->n_round; i = (i + 1) % n_others)
        plan->round[entry++] = i < (unsigned)plan->level1_unit ? i : i + 1;
    for (size_t u = 0; u < plan->n_units; u++)
        plan->units[u].slots = 0;
    plan->n_windows = 0;
    for (entry = 0; entry < plan->n_round; entry++) {
        plan->units[plan->round[entry]].slots++;
        plan->n_windows += plan->units[plan->round[entry]].n_groups;
    }
    for (size_t u = 0; u < plan->n_units; u++)
        if (plan->units[u].slots == 0)
            plan->units[u].n_groups = 0; // not measured, and not all the time either
    plan->idle_ns = 0;
    plan->round_ns = plan->n_windows * plan->slot_ns;
}

static struct plan *plan_setting(const void *context) {
    const struct wanted *wanted = context;
    const struct rig *rig = wanted->rig;
    int s = wanted->setting;
    struct plan *plan = plan_selected(rig, s == SETTING_PARTS ? 2 : rig->catalog->general_counters);
    unsigned others = (unsigned)plan->n_units - 1;
    unsigned half = (unsigned)((HALF_A_SECOND_NS + rig->slot_ns - 1) / rig->slot_ns); // a round is a second or more
    if (plan->common_unit >= 0)
        set_round(plan, 0, others, others);
    else if (s == SETTING_SOCKET)
        set_round(plan, 1, others, others);
    else if (s == SETTING_HALF)
        set_round(plan, half, half, 1);
    else if (s == SETTING_TWELFTH)
        set_round(plan, 1, 11, others < 11 ? others : 11);
    return plan;
}

static void make_settings(struct rig *rig) {
    static const char *const names[SETTING_N] = {"socket of 32 CPUs, all event groups in turn",
                                                 "one CPU, half of the time", "one CPU, a twelfth of the time",
                                                 "one CPU with 2 counters, level 1 in parts"};
    for (int s = 0; s < SETTING_N; s++) {
        struct setting *setting = &rig->settings[s];
        *setting = (struct setting){.name = names[s], .n_cpus = s == SETTING_SOCKET ? 32 : 1, .rates = rig->rates};
        setting_init(setting, plan_setting, &(struct wanted){rig, s});
        double length = (double)setting->plan->round_ns * 1e-9;
        setting->n_counters = setting->plan->general_counters;
        setting->seconds = floor(60 / length) * length;
    }
    rig->n_settings = SETTING_N;
    if (rig->settings[0].plan->common_unit >= 0) { // level 1 has all of the time
        rig->n_settings = SETTING_HALF + 1;
        rig->settings[SETTING_HALF].name = "one CPU, all event groups in turn";
    }
}

static struct plan *plan_comparison(const void *context) {
    const struct rig *rig = context;
    return plan_selected(rig, rig->catalog->general_counters);
}

// Selects the metric groups for the adaptive schedule's trials: one or two for each bottleneck, and some to which none
// leads. With all metric groups selected, nearly all event groups would be raised at once, which raises none.
static void select_profile(struct rig *rig) {
    static const char *const names[] = {
        "stage_1",
        // Neoverse V2
        "Branch_Effectiveness", "ITLB_Effectiveness", "L1I_Cache_Effectiveness", "L1D_Cache_Effectiveness",
        "L2_Cache_Effectiveness", "SVE_Effectiveness", "FP_Precision_Mix", "FP_Arithmetic_Intensity", "General",
        // Sapphire Rapids
        "BrMispredicts", "IcMiss", "DSBmiss", "MemoryTLB", "PortsUtil", "InsType", "Power", "LockCont", "Flops"};
    size_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int group = catalog_find_group(rig->catalog, names[i]);
        if (group >= 0)
            rig->selections[n++] = (struct plan_selection){.group = (unsigned)group};
    }
    rig->request.n_selections = n;
    for (int s = 0; s < 2; s++) {
        rig->comparisons[s] = (struct setting){.n_cpus = s == SETTING_SOCKET ? 32 : 1,
                                               .n_counters = rig->catalog->general_counters,
                                               .rates = rig->rates,
                                               .seconds = COMPARISON_SECONDS};
        setting_init(&rig->comparisons[s], plan_comparison, rig);
    }
}

// The spec's defaults, and with `fetched` what the decision tree names below the back end as far as there is room.
static struct plan *plan_evidence(const struct rig *rig, bool with) {
    const struct catalog *catalog = rig->catalog;
    struct plan_fetched *fetched = array(catalog->n_metrics * 4, sizeof *fetched);
    struct plan_request request = rig->request;
    struct plan *plan = plan_selected(rig, catalog->general_counters);
    request.fetched = fetched;
    for (size_t k = 0; k < catalog->n_nodes && with; k++) {
        const struct catalog_node *node = &catalog->nodes[k];
        bool back_end = false;
        for (size_t i = 0; i < catalog->level1.n_categories; i++)
            back_end = back_end || (catalog->level1.categories[i].category == CATEGORY_BACKEND_BOUND &&
                                    catalog->level1.categories[i].metric == node->metric);
        for (size_t i = 0; i < node->n_next && back_end; i++) {
            const struct catalog_group *group = node->next[i].group >= 0 ? &catalog->groups[node->next[i].group] : NULL;
            for (size_t m = 0; group && m < group->n_metrics; m++)
                fetched[request.n_fetched++] =
                    (struct plan_fetched){.metric = group->metrics[m], .group = (unsigned)node->next[i].group};
        }
    }
    request.fetched_groups = plan_fetch_room(plan, request.idle, SCHEDULE_ROUND_NS_MAX);
    request.fetched_events = UINT16_MAX;
    plan_free(plan);
    int r = plan_new(&request, &plan);
    if (r < 0)
        accuracy_fail("plan", r);
    free(fetched);
    return plan;
}

static struct plan *plan_without(const void *context) { return plan_evidence(context, false); }
static struct plan *plan_with(const void *context) { return plan_evidence(context, true); }

static void make_evidence(struct rig *rig) {
    int group;
    rig->request.n_selections = 0;
    for (unsigned n = 1; (group = catalog_default_group(rig->catalog, n)) >= 0; n++)
        rig->selections[rig->request.n_selections++] = (struct plan_selection){.group = (unsigned)group};
    for (int s = 0; s < 2; s++)
        for (int with = 0; with < 2; with++) {
            struct setting *setting = &rig->evidence[s][with];
            *setting = rig->comparisons[s];
            setting->layouts[0] = setting->layouts[1] = NULL;
            setting_init(setting, with == 1 ? plan_with : plan_without, rig);
        }
}

static void select_all(struct rig *rig) {
    rig->request.n_selections = rig->catalog->n_groups;
    for (unsigned g = 0; g < rig->catalog->n_groups; g++)
        rig->selections[g] = (struct plan_selection){.group = g};
}

static void rig_init(struct rig *rig, const char *spec, uint64_t slot_ns, unsigned seeds, unsigned jobs) {
    char path[96];
    (void)snprintf(path, sizeof path, "specs/%.40s.json", spec);
    *rig = (struct rig){.slot_ns = slot_ns, .seeds = seeds, .jobs = jobs};
    struct errors errors = {0};
    int r = spec_json_load(path, NULL, &errors, &rig->catalog);
    if (r < 0)
        accuracy_fail(path, r);
    rig->rates = rates_load(rig->catalog, spec);
    rig->selections = array(rig->catalog->n_groups, sizeof *rig->selections);
    rig->request = (struct plan_request){.catalog = rig->catalog,
                                         .general_counters = rig->catalog->general_counters,
                                         .selections = rig->selections,
                                         .slot_ns = slot_ns};
    select_all(rig);
    make_settings(rig);
    select_profile(rig);
}

static void rig_free(struct rig *rig) {
    for (int s = 0; s < SETTING_N; s++)
        setting_deinit(&rig->settings[s]);
    for (int s = 0; s < 2; s++)
        setting_deinit(&rig->comparisons[s]);
    free(rig->rates);
    free(rig->selections);
    catalog_free(rig->catalog);
}

// ---- running ----

struct work {
    const struct rig *rig;
    pthread_mutex_t lock;
    struct scores *scores;
    unsigned methods;
    struct comparison *comparisons[COMPARISON_N];
};

// Rivals take most of the time, and only the full run has goals against them. A short run shows a tenth of their
// trials.
static unsigned seeds_of(const struct rig *rig, unsigned method) {
    return method == METHOD_OURS || rig->seeds >= FULL_SEEDS ? rig->seeds : (rig->seeds + 9) / 10;
}

static void run_method(void *context, unsigned job) {
    struct work *work = context;
    unsigned seed = job % work->rig->seeds, rest = job / work->rig->seeds;
    unsigned method = rest % work->methods, kind = rest / work->methods % (unsigned)load_n_kinds;
    unsigned s = rest / work->methods / (unsigned)load_n_kinds;
    struct outcome outcome;
    if (seed >= seeds_of(work->rig, method))
        return;
    outcome_init(&outcome, work->rig->settings[s].plan->n_metrics);
    trial_run(&work->rig->settings[s], &load_kinds[kind], (enum method)method, 1000 + seed, &outcome);
    pthread_mutex_lock(&work->lock);
    score_take(&work->scores->of[s][method][kind], work->rig->settings[s].plan, method == METHOD_OURS, &outcome);
    pthread_mutex_unlock(&work->lock);
    outcome_deinit(&outcome);
}

static void run_both(void *context, unsigned job) {
    struct work *work = context;
    size_t kinds = load_n_kinds + load_n_bottlenecks;
    size_t seed = job % work->rig->seeds, kind = job / work->rig->seeds % kinds, s = job / work->rig->seeds / kinds;
    bool common = kind < load_n_kinds;
    const struct load_kind *load = common ? &load_kinds[kind] : &load_bottlenecks[kind - load_n_kinds];
    struct setting setting = work->rig->comparisons[s];
    const struct plan *plan = setting.plan;
    struct outcome fixed, adaptive;
    outcome_init(&fixed, plan->n_metrics);
    outcome_init(&adaptive, plan->n_metrics);
    trial_run(&setting, load, METHOD_OURS, 1000 + seed, &fixed);
    setting.adaptive = &work->rig->request;
    trial_run(&setting, load, METHOD_OURS, 1000 + seed, &adaptive);
    pthread_mutex_lock(&work->lock);
    comparison_add(work->comparisons[2 * s + !common], plan, &fixed, &adaptive);
    pthread_mutex_unlock(&work->lock);
    outcome_deinit(&adaptive);
    outcome_deinit(&fixed);
}

static void run_evidence(void *context, unsigned job) {
    struct work *work = context;
    size_t kinds = load_n_kinds + load_n_bottlenecks;
    size_t seed = job % work->rig->seeds, kind = job / work->rig->seeds % kinds, s = job / work->rig->seeds / kinds;
    bool common = kind < load_n_kinds;
    const struct load_kind *load = common ? &load_kinds[kind] : &load_bottlenecks[kind - load_n_kinds];
    const struct setting *settings = work->rig->evidence[s];
    struct outcome outcomes[2];
    for (int with = 0; with < 2; with++) {
        outcome_init(&outcomes[with], settings[with].plan->n_metrics);
        trial_run(&settings[with], load, METHOD_OURS, 1000 + seed, &outcomes[with]);
    }
    outcomes[1].changes = 1; // of the plan without
    pthread_mutex_lock(&work->lock);
    comparison_add(work->comparisons[2 * s + !common], settings[0].plan, &outcomes[0], &outcomes[1]);
    pthread_mutex_unlock(&work->lock);
    for (int with = 0; with < 2; with++)
        outcome_deinit(&outcomes[with]);
}

static void run(const struct rig *rig, unsigned methods, struct scores *scores) {
    struct work work = {.rig = rig, .scores = scores, .methods = methods, .lock = PTHREAD_MUTEX_INITIALIZER};
    jobs_run(rig->n_settings * (unsigned)load_n_kinds * methods * rig->seeds, rig->jobs, run_method, &work);
}

// Compares the default profile without and with what a verdict leads to.
static bool compare_evidence(struct rig *rig) {
    static const char *const names[COMPARISON_N] = {"socket of 32 CPUs, the loads above",
                                                    "socket of 32 CPUs, one bottleneck at a time",
                                                    "one CPU, the loads above", "one CPU, one bottleneck at a time"};
    struct work work = {.rig = rig, .lock = PTHREAD_MUTEX_INITIALIZER};
    bool met = true;
    make_evidence(rig);
    for (size_t c = 0; c < COMPARISON_N; c++)
        work.comparisons[c] = comparison_new();
    printf("evidence: %zu and %zu event groups, rounds of %g and %g s\n", rig->evidence[0][0].plan->n_groups,
           rig->evidence[0][1].plan->n_groups, (double)rig->evidence[0][0].plan->round_ns * 1e-9,
           (double)rig->evidence[0][1].plan->round_ns * 1e-9);
    jobs_run(2 * (unsigned)(load_n_kinds + load_n_bottlenecks) * rig->seeds, rig->jobs, run_evidence, &work);
    for (size_t c = 0; c < COMPARISON_N; c++) {
        met = comparison_print(work.comparisons[c], names[c]) && met;
        comparison_free(work.comparisons[c]);
    }
    for (int s = 0; s < 2; s++)
        for (int with = 0; with < 2; with++)
            setting_deinit(&rig->evidence[s][with]);
    return met;
}

// Compares the daemon's fixed schedule of all metric groups with its adaptive one.
static bool compare(const struct rig *rig) {
    static const char *const names[COMPARISON_N] = {"socket of 32 CPUs, the loads above",
                                                    "socket of 32 CPUs, one bottleneck at a time",
                                                    "one CPU, the loads above", "one CPU, one bottleneck at a time"};
    struct work work = {.rig = rig, .lock = PTHREAD_MUTEX_INITIALIZER};
    for (size_t c = 0; c < COMPARISON_N; c++)
        work.comparisons[c] = comparison_new();
    jobs_run(2 * (unsigned)(load_n_kinds + load_n_bottlenecks) * rig->seeds, rig->jobs, run_both, &work);
    printf("\nadaptive schedule, %d s\n", COMPARISON_SECONDS);
    bool met = true;
    for (size_t c = 0; c < COMPARISON_N; c++) {
        met = comparison_print(work.comparisons[c], names[c]) && met;
        comparison_free(work.comparisons[c]);
    }
    return met;
}

// ---- printing ----

static void print_setting(const struct rig *rig, const struct scores *scores, unsigned s) {
    const struct plan *plan = rig->settings[s].plan;
    printf("\n%s: %zu slots of %g ms, %g s\n\n", rig->settings[s].name, plan->n_round, (double)plan->slot_ns * 1e-6,
           rig->settings[s].seconds);
    printf("%-20s", "level 1, points");
    for (unsigned m = 0; m < METHOD_N; m++)
        printf(" %15s", METHODS[m]);
    printf(" %9s %7s %9s %7s\n", "interval", "width", "of MPKI", "gauge");
    for (unsigned kind = 0; kind <= load_n_kinds; kind++) {
        printf("%-20s", kind < load_n_kinds ? load_kinds[kind].name : "all");
        for (unsigned m = 0; m < METHOD_N; m++) {
            struct summary all = scores_summary(scores, s, m, kind);
            printf("   %5.2f / %5.2f", all.median, all.p95);
        }
        struct summary ours = scores_summary(scores, s, METHOD_OURS, kind);
        printf(" %7.1f %% %7.2f %7.1f %% %5.1f %%\n", 100 * ours.inside, ours.width, 100 * ours.inside_mpki,
               100 * ours.inside_gauge);
    }
    printf("%-20s", "MPKI, relative");
    for (unsigned m = 0; m < METHOD_N; m++)
        printf(" %13.2f %%", 100 * scores_summary(scores, s, m, (unsigned)load_n_kinds).mpki);
    printf("\n%-20s", "rotations a second");
    for (unsigned m = 0; m < METHOD_N; m++)
        printf(" %15.1f", scores->of[s][m][0].rotations);
    printf("\n");
}

static void print_curve(const char *spec, unsigned seeds, unsigned jobs) {
    static const unsigned lengths_ms[] = {50, 100, 200, 300, 500, 1000, 2000};
    printf("level 1, points, all loads: median / 95th percentile, and the worst load's 95th percentile\n\n%-8s %12s",
           "slot", "rotations/s");
    printf(" %26s %26s %26s\n", "32 CPUs, all groups", "1 CPU, half", "1 CPU, a twelfth");
    for (size_t i = 0; i < sizeof lengths_ms / sizeof *lengths_ms; i++) {
        struct rig rig;
        struct scores *scores = scores_new(load_n_kinds);
        rig_init(&rig, spec, lengths_ms[i] * UINT64_C(1000000), seeds, jobs);
        run(&rig, 1, scores);
        printf("%5u ms %12.1f", lengths_ms[i], scores->of[SETTING_SOCKET][METHOD_OURS][0].rotations);
        for (unsigned s = 0; s < rig.n_settings && s < SETTING_PARTS; s++) {
            struct summary all = scores_summary(scores, s, METHOD_OURS, (unsigned)load_n_kinds);
            printf("      %5.2f / %5.2f, %5.2f", all.median, all.p95, scores_worst(scores, s));
        }
        printf("\n");
        (void)fflush(stdout);
        scores_free(scores);
        rig_free(&rig);
    }
}

static bool check_held(struct rig *rig, bool full) {
    select_all(rig);
    return held_check(&rig->request, rig->rates, rig->seeds, rig->jobs, full);
}

static bool check_sizes(struct rig *rig, bool full) {
    select_all(rig);
    return sizes_check(&rig->request, rig->rates, rig->seeds, rig->jobs, full);
}

struct choice {
    unsigned long seeds, jobs;
    const char *spec;
    bool curve, adaptive, evidence, sizes, bias, held;
};

static bool choose(int argc, char **argv, struct choice *choice) {
    static const struct option options[] = {
        {"seeds", required_argument, NULL, 's'}, {"jobs", required_argument, NULL, 'j'},
        {"spec", required_argument, NULL, 'p'},  {"curve", no_argument, NULL, 'c'},
        {"adaptive", no_argument, NULL, 'a'},    {"evidence", no_argument, NULL, 'e'},
        {"sizes", no_argument, NULL, 'z'},       {"bias", no_argument, NULL, 'b'},
        {"held", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
    *choice = (struct choice){
        .seeds = TEST_SEEDS, .jobs = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN), .spec = "neoverse-v2"};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 's')
            choice->seeds = strtoul(optarg, NULL, 10);
        else if (c == 'j')
            choice->jobs = strtoul(optarg, NULL, 10);
        else if (c == 'p')
            choice->spec = optarg;
        else if (c == 'c')
            choice->curve = true;
        else if (c == 'a')
            choice->adaptive = true;
        else if (c == 'e')
            choice->evidence = true;
        else if (c == 'z')
            choice->sizes = true;
        else if (c == 'b')
            choice->bias = true;
        else if (c == 'h')
            choice->held = true;
        else
            return false;
    }
    if (choice->seeds < 1 || choice->seeds > 100000 || choice->jobs < 1 || choice->jobs > JOBS_MAX)
        accuracy_fail("--seeds, --jobs", -EINVAL);
    return true;
}

// Level 1 counts all the time, in fields: nothing is held of it.
static bool has_fields(const struct rig *rig) { return rig->settings[0].plan->common_unit >= 0; }

static bool run_all(struct rig *rig) {
    struct scores *scores = scores_new(load_n_kinds);
    bool full = rig->seeds >= FULL_SEEDS, fields = has_fields(rig);
    run(rig, METHOD_N, scores);
    for (unsigned s = 0; s < rig->n_settings; s++)
        print_setting(rig, scores, s);
    bool met = goals_check(scores, rig->n_settings, fields, full);
    unsigned seeds = rig->seeds;
    rig->seeds = (seeds + 9) / 10; // each takes five minutes, or is of many CPUs
    met = compare(rig) && met;
    met = check_sizes(rig, full) && met;
    rig->seeds = seeds;
    if (!fields)
        met = check_held(rig, full) && met;
    scores_free(scores);
    return met;
}

int main(int argc, char **argv) {
    struct choice choice;
    struct rig rig;
    bool met = true;
    if (!choose(argc, argv, &choice))
        return 2;
    if (choice.seeds < FULL_SEEDS)
        printf("%lu seeds, of the rivals a tenth: a quick look; the full run is --seeds %d\n", choice.seeds,
               FULL_SEEDS);
    if (choice.curve && !choice.sizes) {
        print_curve(choice.spec, (unsigned)choice.seeds, (unsigned)choice.jobs);
        return EXIT_SUCCESS;
    }
    rig_init(&rig, choice.spec, SLOT_MS * UINT64_C(1000000), (unsigned)choice.seeds, (unsigned)choice.jobs);
    if (choice.curve) {
        select_all(&rig);
        sizes_print_curve(&rig.request, rig.rates, rig.seeds, rig.jobs);
    } else if (choice.bias) {
        select_all(&rig);
        met = sizes_check_bias(&rig.request, rig.rates, rig.seeds, rig.jobs);
    } else if (choice.held) {
        if (has_fields(&rig))
            accuracy_fail("--held is for a spec whose level 1 takes turns", -EINVAL);
        met = check_held(&rig, rig.seeds >= FULL_SEEDS);
    } else if (choice.adaptive) {
        met = compare(&rig);
    } else if (choice.evidence) {
        met = compare_evidence(&rig);
    } else if (choice.sizes) {
        met = check_sizes(&rig, rig.seeds >= FULL_SEEDS / 10);
    } else {
        met = run_all(&rig);
    }
    rig_free(&rig);
    return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
