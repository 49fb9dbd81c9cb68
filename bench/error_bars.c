// SPDX-License-Identifier: Apache-2.0
//
// Measures whether intervals hold the truth as often as they say, and whether they are wider than that takes: the
// matrix of error bars.
//
//     bench_error_bars [--runs N] [--spec NAME] [--load WORDS] [--seconds 12|60] [--jobs N] [--file FILE]
//
// It simulates hosts of 16 cores on two sockets (error_bars/host.h) under loads whose truth is known exactly
// (accuracy/load.h), measures each for 12 and for 60 seconds as `topdownd measure` does, and judges the intervals of
// level 1, of instructions per cycle and of misses per 1,000 instructions of the host, of sockets and of CPUs; and
// those of the last snapshot alone. Runs are alike wherever they are made: each has a seed of its own.
//
// A cell says how many of the intervals hold the truth, in %, with the standard error of that, and how many times as
// wide they are on average as intervals all alike would be of which 95 % do. `<` marks too few (more than two standard
// errors below 93 %), `>` too many (likewise above 98 %), and `w` a width of more than 1.3 times. `=`
// marks a cell that may have the latter two because half of its intervals' width is at most 0.05 points of a share, or
// 0.2 % of another value, of which nobody has a use for less: simulated loads may have errors of 0.001 %. An interval
// that is poor because too little was seen to know (too few rounds or windows, a core that slept) says so, and is not
// judged; `?` marks a cell of which most values are so, or have no interval. Behind the cells: for how many values of
// each class, in %, the interval was absent / said so / was poor for another reason. --file writes the same as a table
// of numbers, a line for each cell.
//
// The whole matrix is --runs 1000, by hand; docs/estimation.md has it. Without options it runs a slice of which it
// checks that it is not worse than it was (the same runs each time, so the same result), as a test.

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/accuracy/jobs.h"
#include "bench/accuracy/rates.h"
#include "bench/error_bars/bars.h"
#include "config/spec/spec_json.h"

enum { SLICE_RUNS = 16, RUNS_MAX = 100000, SECONDS_N = 2, TABLES = 3 };
static const double SECONDS[SECONDS_N] = {12, 60};
static const char *const SPECS[] = {"neoverse-v2", "sapphire-rapids"};
static const char *const TABLE_NAMES[TABLES] = {"12 s", "60 s", "one snapshot"};
static const char *const SCOPE_NAMES[HOST_SCOPES] = {"host", "socket", "CPU"};
static const char *const CLASS_NAMES[HOST_CLASSES] = {"level 1", "IPC", "MPKI"};

static const struct load_kind LOADS[] = {
    {"steady", LOAD_STEADY, 0, 0, MIX_WEB, MIX_WEB, 0.02, false, false, 0, false},
    {"bursts of 20 ms", LOAD_BURSTS, 0.02, 0.08, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"bursts of 0.25 s", LOAD_BURSTS, 0.25, 1.45, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"bursts of 2 s", LOAD_BURSTS, 2, 4, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"in step, 0.3 s", LOAD_LOCKSTEP, 0.1, 0.2, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"in step, 3.1 s", LOAD_LOCKSTEP, 1.55, 1.55, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"sleeping", LOAD_BURSTS, 0.2, 4.1, MIX_DATABASE, MIX_SLEEP, 0.002, false, false, 0, false},
    {"migrating", LOAD_MIGRATING, 1, 0, MIX_DATABASE, MIX_IDLE, 0.002, false, false, 0, false},
    {"phases of minutes", LOAD_LOCKSTEP, 60, 60, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"one hot core", LOAD_HOT, 0.5, 0.5, MIX_BATCH, MIX_IDLE, 0.002, false, false, 0, false},
    {"SMT pairs", LOAD_BURSTS, 0.5, 0.5, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
    {"beat", LOAD_PERIODIC, 0, 0, MIX_DATABASE, MIX_WEB, 0.002, false, false, 0, false},
};
enum { N_LOADS = sizeof LOADS / sizeof *LOADS };
static const char PAIRS[] = "SMT pairs"; // the load whose cores have two threads

struct choice {
    unsigned long runs, jobs;
    double seconds;          // 0: both
    const char *spec, *load; // NULL: all
    FILE *file;
};

struct work {
    const struct host *host;
    const struct load_kind *load;
    struct host_item *whole, *last; // [run][scope][metric]
};

// Of a table.
struct counts {
    size_t cells, narrow, sure, wide, told;
    size_t goal;                     // none of these three, or narrow enough
    size_t unknown;                  // most values are absent, or say that too little was seen
    double logs;                     // of the widths of cells that are told
    double absent, said, poor, held; // sums of the cells' shares; said: those that say so, held: those with the truth
};

static void run_one(void *context, unsigned run) {
    struct work *work = context;
    size_t n = host_n_scopes(work->host) * work->host->setting.plan->n_metrics;
    host_run(work->host, work->load, 1000 + run, work->whole + run * n, work->last + run * n);
}

// ---- printing ----

static void print_cell(const struct choice *choice, const char *spec, const char *load, size_t table, size_t scope,
                       size_t of, const struct bars_summary *cell, struct counts *counts) {
    bool narrow = bars_is_too_narrow(cell), sure = bars_is_too_sure(cell), wide = bars_is_too_wide(cell);
    bool enough = bars_is_narrow_enough(cell, (enum host_class)of) && (sure || wide), unknown = bars_says_unknown(cell);
    if (isnan(cell->inside))
        printf(" | %18s   %c", "no interval", unknown ? '?' : ' ');
    else
        printf(" | %5.1f (%4.1f) %5.2f %c%c%c%c", 100 * cell->inside, 100 * cell->error,
               fmin(cell->half / cell->wanted, 99),
               narrow ? '<'
               : sure ? '>'
                      : ' ',
               wide ? 'w' : ' ', enough ? '=' : ' ', unknown ? '?' : ' ');
    counts->cells++;
    counts->unknown += unknown;
    counts->narrow += narrow; // also of what few values claim
    counts->absent += cell->absent;
    counts->said += cell->unknown;
    counts->held += cell->unknown_inside;
    counts->poor += cell->poor;
    if (!unknown) {
        counts->sure += sure && !enough;
        counts->wide += wide && !enough;
        counts->goal += !isnan(cell->inside) && !narrow && (enough || (!sure && !wide));
    }
    if (!unknown && cell->half > 0 && cell->wanted > 0) {
        counts->told++;
        counts->logs += log(cell->half / cell->wanted);
    }
    if (choice->file)
        (void)fprintf(choice->file, "%s\t%s\t%s\t%s\t%s\t%.4f\t%.4f\t%.5g\t%.5g\t%.4f\t%.4f\t%.4f\t%s%s%s%s\n", spec,
                      TABLE_NAMES[table], load, SCOPE_NAMES[scope], CLASS_NAMES[of], cell->inside, cell->error,
                      cell->half, cell->wanted, cell->absent, cell->unknown, cell->poor,
                      narrow ? "<"
                      : sure ? ">"
                             : "",
                      wide ? "w" : "", enough ? "=" : "", unknown ? "?" : "");
}

static void print_load(const struct choice *choice, const char *spec, const struct work *work, size_t table,
                       const struct host_item *items, struct counts *counts) {
    size_t n = host_n_scopes(work->host) * work->host->setting.plan->n_metrics;
    for (size_t scope = 0; scope < HOST_SCOPES; scope++) {
        struct bars_summary all[HOST_CLASSES];
        printf("%-18s %-12s %-6s", work->load->name, TABLE_NAMES[table], SCOPE_NAMES[scope]);
        for (size_t of = 0; of < HOST_CLASSES; of++) {
            struct bars_cell cell = {0};
            for (size_t run = 0; run < choice->runs; run++)
                bars_take(&cell, work->host, (enum host_scope)scope, (enum host_class)of, items + run * n);
            all[of] = bars_summary(&cell);
            bars_free(&cell);
            print_cell(choice, spec, work->load->name, table, scope, of, &all[of], counts);
        }
        for (size_t of = 0; of < HOST_CLASSES; of++)
            printf("%s%.0f/%.0f/%.0f", of == 0 ? " | " : ", ", 100 * all[of].absent, 100 * all[of].unknown,
                   100 * all[of].poor);
        printf("\n");
    }
}

// ---- running ----

static void run_load(const struct choice *choice, const char *spec, const struct host *host,
                     const struct load_kind *load, size_t table, struct counts *counts) {
    size_t n = host_n_scopes(host) * host->setting.plan->n_metrics * choice->runs;
    struct work work = {host, load, calloc(n, sizeof *work.whole), calloc(n, sizeof *work.last)};
    if (!work.whole || !work.last)
        abort();
    jobs_run((unsigned)choice->runs, (unsigned)choice->jobs, run_one, &work);
    print_load(choice, spec, &work, table, work.whole, &counts[table]);
    if (table == SECONDS_N - 1)
        print_load(choice, spec, &work, TABLES - 1, work.last, &counts[TABLES - 1]);
    (void)fflush(stdout);
    free(work.last);
    free(work.whole);
}

static void run_loads(const struct choice *choice, const char *spec, const struct catalog *catalog, const double *rates,
                      size_t table, struct counts *counts) {
    struct host hosts[2]; // by threads of a core
    for (unsigned t = 0; t < 2; t++)
        host_init(&hosts[t], catalog, rates, SECONDS[table], 1 + t);
    const struct plan *plan = hosts[0].setting.plan;
    printf("\n%s, %g s: rounds of %.2f s, slots of %.0f ms\n", spec, SECONDS[table], 1e-9 * (double)plan->round_ns,
           1e-6 * (double)plan->slot_ns);
    for (size_t l = 0; l < N_LOADS; l++)
        if (!choice->load || strstr(choice->load, LOADS[l].name))
            run_load(choice, spec, &hosts[strcmp(LOADS[l].name, PAIRS) == 0], &LOADS[l], table, counts);
    for (unsigned t = 0; t < 2; t++)
        host_deinit(&hosts[t]);
}

static void run_spec(const struct choice *choice, const char *spec, struct counts *counts) {
    char path[96];
    struct errors errors = {0};
    struct catalog *catalog;
    (void)snprintf(path, sizeof path, "specs/%.40s.json", spec);
    if (spec_json_load(path, NULL, &errors, &catalog) < 0) {
        (void)fprintf(stderr, "bench_error_bars: %s: not loaded\n", path);
        exit(EXIT_FAILURE);
    }
    double *rates = rates_load(catalog, spec);
    for (size_t table = 0; table < SECONDS_N; table++)
        if (choice->seconds == 0 || choice->seconds == SECONDS[table])
            run_loads(choice, spec, catalog, rates, table, counts);
    free(rates);
    catalog_free(catalog);
}

static bool choose(int argc, char **argv, struct choice *choice) {
    static const struct option options[] = {{"runs", required_argument, NULL, 'r'},
                                            {"jobs", required_argument, NULL, 'j'},
                                            {"spec", required_argument, NULL, 'p'},
                                            {"load", required_argument, NULL, 'l'},
                                            {"seconds", required_argument, NULL, 's'},
                                            {"file", required_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    *choice = (struct choice){.runs = SLICE_RUNS, .jobs = 1};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 'r')
            choice->runs = strtoul(optarg, NULL, 10);
        else if (c == 'j')
            choice->jobs = strtoul(optarg, NULL, 10);
        else if (c == 'p')
            choice->spec = optarg;
        else if (c == 'l')
            choice->load = optarg;
        else if (c == 's')
            choice->seconds = strtod(optarg, NULL);
        else if (c == 'f')
            choice->file = fopen(optarg, "w");
        else
            return false;
        if (c == 'f' && !choice->file)
            return false;
    }
    return choice->runs >= 1 && choice->runs <= RUNS_MAX && choice->jobs >= 1 && choice->jobs <= JOBS_MAX;
}

struct limit {
    size_t narrow, goal, unknown;     // at most, at least, at most
    double width, absent, said, poor; // means of the cells, all but the width in %
    double held;                      // at least; of those that say so, in %
};

static bool meets(const struct counts *counts, const struct limit *limit) {
    double cells = (double)counts->cells;
    return counts->narrow <= limit->narrow && counts->goal >= limit->goal && counts->unknown <= limit->unknown &&
           exp(counts->logs / (double)counts->told) <= limit->width && 100 * counts->absent / cells <= limit->absent &&
           100 * counts->said / cells <= limit->said && 100 * counts->poor / cells <= limit->poor &&
           100 * counts->held >= limit->held * counts->said;
}

// Prints what the tables come to. False if a slice is worse than it was, by more than another compiler's rounding makes
// it: there are that many too narrow cells at most, that many in the goal at least, and they are at most that wide on
// average. What has no interval, or says that too little was seen, is in neither, so that few may be so, and few of no
// use. Those that say so hold the truth all the same.
static bool check(const struct choice *choice, const struct counts *counts) {
    static const struct limit limits[TABLES] = {
        {3, 90, 17, 1.65, 5.2, 3.8, 4.6, 97}, {2, 108, 7, 1.58, 1, 2.9, 2.1, 97}, {3, 80, 4, 1.55, 0.7, 2.8, 13.5, 97}};
    bool slice = choice->runs == SLICE_RUNS && !choice->spec && !choice->load && choice->seconds == 0, met = true;
    printf("\n");
    for (size_t t = 0; t < TABLES; t++) {
        double cells = (double)counts[t].cells;
        if (counts[t].cells == 0)
            continue;
        printf(
            "%-12s %zu cells, %zu too narrow, %zu with nearly all inside, %zu too wide, %zu in the goal, %zu say that "
            "too little was seen; %.2f times as wide; %.2f %% absent, %.2f %% say so (%.1f %% of these hold the "
            "truth), "
            "%.2f %% poor\n",
            TABLE_NAMES[t], counts[t].cells, counts[t].narrow, counts[t].sure, counts[t].wide, counts[t].goal,
            counts[t].unknown, exp(counts[t].logs / (double)counts[t].told), 100 * counts[t].absent / cells,
            100 * counts[t].said / cells, 100 * counts[t].held / counts[t].said, 100 * counts[t].poor / cells);
        if (slice && !meets(&counts[t], &limits[t])) {
            printf("MISSED: at most %zu too narrow, %zu that say too little was seen, %.2f times as wide, "
                   "%.1f %% absent, %.1f %% that say so, %.1f %% poor; at least %zu in the goal, %.0f %% of those that "
                   "say so\n",
                   limits[t].narrow, limits[t].unknown, limits[t].width, limits[t].absent, limits[t].said,
                   limits[t].poor, limits[t].goal, limits[t].held);
            met = false;
        }
    }
    return met;
}

int main(int argc, char **argv) {
    struct choice choice;
    struct counts counts[TABLES] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    if (!choose(argc, argv, &choice)) {
        (void)fprintf(stderr, "bench_error_bars: see bench/error_bars.c\n");
        return 2;
    }
    for (size_t s = 0; s < sizeof SPECS / sizeof *SPECS; s++)
        if (!choice.spec || strcmp(choice.spec, SPECS[s]) == 0)
            run_spec(&choice, SPECS[s], counts);
    bool met = check(&choice, counts);
    if (choice.file)
        (void)fclose(choice.file);
    return met ? EXIT_SUCCESS : EXIT_FAILURE;
}
