// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pmu.h"
#include "core/adapt/budget.h"
#include "core/base/decimal.h"
#include "core/estimate/estimate_expected.h"
#include "core/plan/plan_fetch.h"
#include "core/plan/schedule.h"
#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/engine/plan_view.h"
#include "daemon/memory/memory_watch.h"
#include "daemon/run/load.h"
#include "daemon/run/summary.h"
#include "exporters/json/json.h"
#include "exporters/series/series.h"
#include "exporters/text/table.h"
#include "exporters/view/view_memory.h"

enum { EXIT_WRONG = 2, NAMES_MAX = 1024, NAME_WIDTH = 18, WIDTH = 110 };

// An edge of a slot interrupts each thread of a core twice (docs/estimation.md has the measured figures).
static const double INTERRUPTS_OF_EDGE = 2;

int explain_check(const struct options *options) {
    return options->pmu == PMU_REPLAY ? options_say("explain tells what would be measured: a recording has been") : 0;
}

// ---- event groups ----

static const struct table_column COLUMNS[] = {
    {"event_group", "EVENT GROUP", TABLE_TEXT}, {"counters", "COUNTERS", TABLE_TEXT}, {"slots", "SLOTS", TABLE_TEXT},
    {"share", "SHARE OF TIME", TABLE_TEXT},     {"metrics", "METRICS", TABLE_NUMBER},
};

static void put_counters(struct table *table, const struct plan *plan, const struct plan_group *group) {
    unsigned general = fit_used(&plan->pmu, plan->needs, group->events, group->n_events);
    uint64_t fixed = 0;
    for (size_t e = 0; e < group->n_events; e++)
        fixed |= fit_fixed(&plan->pmu, &plan->needs[group->events[e]]);
    int n_fixed = __builtin_popcountll(fixed);
    if (plan->general_counters == 0)
        table_text(table, "none");
    else if (n_fixed > 0)
        table_format(table, "%u of %u + %d fixed", general, plan->general_counters, n_fixed);
    else
        table_format(table, "%u of %u", general, plan->general_counters);
}

// A line for each event group, folded.
static void list_events(const struct plan *plan, struct text *out) {
    for (size_t i = 0; i < plan->n_groups; i++) {
        const struct plan_group *group = &plan->groups[i];
        char names[NAMES_MAX] = "";
        size_t length = 0;
        for (size_t e = 0; e < group->n_events && length < sizeof names; e++)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? " " : "",
                                       plan->catalog->events[group->events[e]].name);
        text_format(out, "%-*s  ", NAME_WIDTH, group->name);
        text_folded(out, names, NAME_WIDTH + 2, WIDTH);
    }
}

static size_t metrics_of(const struct plan *plan, unsigned unit) {
    size_t n = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        n += plan->metrics[m].unit == (int)unit && !plan->metrics[m].auxiliary;
    return n;
}

static void put_group(struct table *table, const struct plan *plan, size_t i) {
    const struct plan_group *group = &plan->groups[i];
    const struct plan_unit *unit = &plan->units[group->unit];
    bool stands = plan_group_stands(plan, (unsigned)i);
    table_text(table, group->name);
    if (stands)
        table_text(table, "none");
    else
        put_counters(table, plan, group);
    if (stands)
        table_text(table, "always on");
    else
        table_format(table, "%u", unit->slots);
    table_format(table, "%.1f %%", 100 * plan_share(plan, group->unit));
    table_format(table, "%zu", metrics_of(plan, group->unit));
}

static int explain_groups(const struct plan *plan, struct text *out) {
    struct table table = {.columns = COLUMNS, .n_columns = sizeof COLUMNS / sizeof *COLUMNS};
    for (size_t i = 0; i < plan->n_groups; i++)
        put_group(&table, plan, i);
    int r = table_print(&table, out);
    table_deinit(&table);
    int carried = plan_carried_unit(plan);
    if (carried >= 0)
        text_format(out, "Every event group that rotates also carries the %zu events of %zu more metrics.\n",
                    plan->units[carried].n_events, metrics_of(plan, (unsigned)carried));
    if (plan_idle_share(plan) > 0)
        text_format(out, "For %.0f %% of the time no counter is held, in pieces about %.2f s apart.\n",
                    100 * plan_idle_share(plan), (double)SCHEDULE_PIECE_NS * 1e-9);
    text_string(out, "\nTheir events:\n");
    list_events(plan, out);
    return r;
}

// ---- expected errors ----

// The assumption that they rest on, and that the output states.
static const double DEVIATION = 0.2;

static const struct table_column ERROR_COLUMNS[] = {
    {"metrics_of", "METRICS OF", TABLE_TEXT},
    {"one_cpu_round", "A CPU, A ROUND", TABLE_TEXT},
    {"one_cpu_minute", "A CPU, A MINUTE", TABLE_TEXT},
    {"all_cpus_round", "ALL CPUS, A ROUND", TABLE_TEXT},
    {"all_cpus_minute", "ALL CPUS, A MINUTE", TABLE_TEXT},
};

struct errors_of_unit {
    char name[PLAN_NAME_MAX];
    double cpu_round, cpu_minute, all_round, all_minute; // relative
};

static struct errors_of_unit errors_of(const struct plan *plan, unsigned unit, size_t n_cores) {
    struct estimate_expected expected = estimate_expected_of(plan, (int)unit);
    double minute = expected.rounds_a_minute;
    struct errors_of_unit errors = {.cpu_round = estimate_expected_error(&expected, 1, 1, DEVIATION),
                                    .cpu_minute = estimate_expected_error(&expected, 1, minute, DEVIATION),
                                    .all_round = estimate_expected_error(&expected, n_cores, 1, DEVIATION),
                                    .all_minute = estimate_expected_error(&expected, n_cores, minute, DEVIATION)};
    (void)snprintf(errors.name, sizeof errors.name, "%s",
                   plan_carried_unit(plan) == (int)unit ? "every event group"
                                                        : plan->groups[plan->units[unit].first_group].name);
    return errors;
}

static void put_error(struct table *table, double error) {
    if (error > 0)
        table_format(table, "%.2g %%", 100 * error);
    else
        table_text(table, "exact");
}

static int explain_errors(const struct plan *plan, size_t n_cores, struct text *out) {
    struct table table = {.columns = ERROR_COLUMNS, .n_columns = sizeof ERROR_COLUMNS / sizeof *ERROR_COLUMNS};
    for (unsigned u = 0; u < plan->n_units; u++) {
        struct errors_of_unit errors = errors_of(plan, u, n_cores);
        table_text(&table, errors.name);
        put_error(&table, errors.cpu_round);
        put_error(&table, errors.cpu_minute);
        put_error(&table, errors.all_round);
        put_error(&table, errors.all_minute);
    }
    text_format(out,
                "\nExpected error of a gauge, 95 %% of the time, relative to its value, for a load that varies by %.0f "
                "%% between slots,\non each core by itself (twice as much where it varies twice as much):\n",
                100 * DEVIATION);
    int r = table_print(&table, out);
    table_deinit(&table);
    return r;
}

static void add_errors(struct json *json, const struct view *view) {
    const struct plan *plan = view->layout->plan;
    json_begin_object(json, "expected_errors");
    json_number(json, "deviation_between_slots", DEVIATION);
    json_begin_array(json, "units");
    for (unsigned u = 0; u < plan->n_units; u++) {
        struct errors_of_unit errors = errors_of(plan, u, view->layout->topology->n_cores);
        json_begin_object(json, NULL);
        json_string(json, "metrics_of", errors.name);
        json_number(json, "cpu_round", errors.cpu_round);
        json_number(json, "cpu_minute", errors.cpu_minute);
        json_number(json, "all_round", errors.all_round);
        json_number(json, "all_minute", errors.all_minute);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

// ---- what is not measured ----

static void explain_missing(const struct core_type *type, const struct plan *plan, struct text *out) {
    size_t n = 0;
    if (type->missing)
        text_format(out, "\nNot known of this CPU: %s.\n", type->missing);
    for (size_t m = 0; m < plan->n_metrics; m++) {
        const struct plan_metric *metric = &plan->metrics[m];
        if (plan_metric_planned(metric) || metric->auxiliary)
            continue;
        text_format(out, "%s  %s: %s\n", n++ == 0 ? "\nNot measurable here:\n" : "",
                    plan->catalog->metrics[metric->metric].export_name, metric->reason);
    }
    for (size_t i = 0; i < type->source->troubles.n; i++)
        text_format(out, "%s: %s\n", type->source->troubles.errors[i].pmu, type->source->troubles.errors[i].text);
}

// ---- cost ----

static void explain_evidence(const struct setup *setup, const struct plan *plan, struct text *out) {
    const struct config_settings *settings = &setup->profile->settings;
    unsigned room = plan_fetch_room(plan, settings->idle, SCHEDULE_ROUND_NS_MAX);
    if (!settings->evidence)
        return;
    if (room > 0)
        text_format(
            out,
            "What a verdict leads to gets up to %u event group%s more while it holds, and rounds are longer then.\n",
            room, room == 1 ? "" : "s");
    else
        text_string(out,
                    "What a verdict leads to cannot be measured beside this (evidence): a round takes 15 s at most.\n");
}

static void explain_cost(const struct setup *setup, const struct core_type *type, const struct plan *plan,
                         struct text *out) {
    const struct topology *topology = type->topology;
    size_t files = source_files(type->source, plan, topology->n_cpus);
    char size[DECIMAL_SIZE_MAX];
    struct schedule schedule = schedule_of(plan, topology->n_cores, setup_interval_ns(setup), 0);
    text_format(out, "\nA round takes %.2f s", (double)plan->round_ns * 1e-9);
    if (plan_n_rotating(plan) > 0)
        text_format(out, ", in slots of %.0f ms", (double)plan->slot_ns * 1e-6);
    text_format(out, "; a snapshot is made every %.2f s.\n", (double)schedule_interval_ns(&schedule) * 1e-9);
    text_format(out, "%zu files, one for each event and CPU, and about %s of the kernel's memory.\n", files,
                decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size));
    if (plan_n_rotating(plan) > 0)
        text_format(out, "About %.1f interrupts a second of each busy CPU, and a tenth of that of CPUs that sleep.\n",
                    INTERRUPTS_OF_EDGE * (1 - plan_idle_share(plan)) / ((double)plan->slot_ns * 1e-9));
    explain_evidence(setup, plan, out);
}

static int explain_type(const struct setup *setup, const struct core_type *type, const struct view *view,
                        struct text *out) {
    const struct plan *plan = view->layout->plan;
    const struct topology *topology = type->topology;
    text_format(out, "%s%s, spec %s: %zu CPU%s in %zu core%s on %zu socket%s%s; profile %s\n\n", type->source->prefix,
                type->source->cpu.model, plan->catalog->product.spec, topology->n_cpus,
                topology->n_cpus == 1 ? "" : "s", topology->n_cores, topology->n_cores == 1 ? "" : "s",
                topology->n_sockets, topology->n_sockets == 1 ? "" : "s", view->simulated ? " (SIMULATED)" : "",
                view->profile);
    if (plan->n_units == 0)
        text_string(out, "This profile measures nothing.\n");
    int r = plan->n_units > 0 ? explain_groups(plan, out) : 0;
    if (r == 0 && plan->n_units > 0)
        r = explain_errors(plan, topology->n_cores, out);
    explain_cost(setup, type, plan, out);
    explain_missing(type, plan, out);
    text_string(out, "\n");
    return r;
}

static void explain_host(const struct setup *setup, const struct shown *shown, struct text *out) {
    struct text omitted = {0};
    struct series *series = series_new(shown, false);
    size_t cpus = series_count_cpus(shown, &omitted);
    if (series)
        text_format(out, "%zu series on /metrics, %zu on /metrics/cpu", series_count_usual(series), cpus);
    if (series && omitted.length > 0)
        text_format(out, " without max_cpu_series, which leaves out: %.*s", (int)omitted.length, omitted.data);
    text_format(out, "%sAt most %.4g %% of one CPU may go to all of this (the budget).\n", series ? ".\n" : "",
                100 * budget_allowed(setup_n_cpus(setup)));
    series_free(series);
    text_free(&omitted);
}

// ---- all of it ----

static int make_views(const struct setup *setup, struct errors *errors, struct shown *shown) {
    size_t n = 0;
    int r = 0;
    *shown = (struct shown){.n = 0};
    while (n < setup->n_types + setup->n_boxes && r == 0) {
        struct plan *plan;
        r = setup_plan_stated(setup, &setup->types[n], errors, &plan);
        struct view *view = r == 0 ? plan_view_new(setup, &setup->types[n], plan) : NULL;
        r = r == 0 && !view ? -ENOMEM : r;
        if (view)
            shown->types[n++].view = view;
    }
    shown_count(shown, n);
    shown->memory = r == 0 ? memory_watch_once(setup) : NULL;
    return r;
}

// The most that the memory of each socket can move, and how that is known.
static void explain_peaks(const struct view *view, struct text *out) {
    static const char *const sources[TOPOLOGY_PEAKS_N] = {
        [TOPOLOGY_PEAK_HOST] = "", // channels times their speed
        [TOPOLOGY_PEAK_CONFIGURED] = " (as configured)",
        [TOPOLOGY_PEAK_FIRMWARE] = " (as the firmware rates it)",
    };
    const struct topology *boxes = view->layout->topology;
    int metric = view_memory_peak_metric(view);
    for (size_t s = 0; s < boxes->n_sockets; s++) {
        double stated = view_memory_peak_stated(view, s);
        if (stated > 0)
            text_format(out, "  The memory of socket %u can move %.1f GB/s%s.\n", boxes->sockets[s].id, stated * 1e-9,
                        sources[boxes->sockets[s].peak]);
        else if (metric >= 0 && boxes->sockets[s].excluded == 0)
            text_format(out, "  What the memory of socket %u can move is measured: its boxes count the clock (%s).\n",
                        boxes->sockets[s].id, view_metric(view, (size_t)metric)->export_name);
    }
}

// Of each kind of PMUs outside the cores: what its boxes count, and what they cannot.
static void explain_boxes(const struct setup *setup, const struct shown *shown, struct text *out) {
    char size[DECIMAL_SIZE_MAX];
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++) {
        const struct plan *plan = shown->types[i].view->layout->plan;
        const struct topology *topology = setup->types[i].topology;
        size_t files = summary_files_of(&setup->types[i], plan);
        text_format(out, "PMUs %s outside the cores: ", setup->types[i].source->pmu_name);
        bool joins = summary_joins(&setup->types[i], plan), one = !joins && topology->n_cpus == 1;
        if (joins)
            text_format(out, "all boxes of %zu socket%s, ", topology->n_sockets, topology->n_sockets == 1 ? "" : "s");
        else
            text_format(out, "%zu box%s, ", topology->n_cpus, one ? "" : "es");
        if (summary_takes_turns(plan))
            text_format(out, "whose %zu event groups take turns: together they need more than a box's %u counters.\n",
                        plan->n_groups, plan->catalog->general_counters);
        else
            text_format(out, "which always count%s.\n", one ? "s" : "");
        text_format(out, "  %zu file%s, one for each event and box, and about %s of the kernel's memory.\n", files,
                    files == 1 ? "" : "s", decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size));
        explain_peaks(shown->types[i].view, out);
        list_events(plan, out);
        explain_missing(&setup->types[i], plan, out);
    }
    for (size_t i = 0; i < setup->unmeasured.n; i++)
        text_format(out, "PMUs %s outside the cores: %zu box%s, not measured:\n  %s.\n",
                    setup->unmeasured.kinds[i].name, setup->unmeasured.kinds[i].n,
                    setup->unmeasured.kinds[i].n == 1 ? "" : "es", setup->unmeasured.kinds[i].why);
}

// As the daemon would serve it (/api/v1/plan), with the expected errors: an object for each core type.
static int print_json(const struct shown *shown, struct text *out) {
    int r = 0;
    for (size_t i = 0; i < shown->n && r == 0; i++) {
        text_string(out, i == 0 ? "[" : ",");
        r = json_render_plan_with(shown, i, add_errors, out);
    }
    text_string(out, "]\n");
    return r;
}

static int print(const struct setup *setup, const struct shown *shown, bool as_json) {
    struct text out = {0};
    int r = as_json ? print_json(shown, &out) : 0;
    for (size_t i = 0; i < shown->n && r == 0 && !as_json; i++)
        r = explain_type(setup, &setup->types[i], shown->types[i].view, &out);
    if (r == 0 && !as_json) {
        explain_boxes(setup, shown, &out);
        explain_host(setup, shown, &out);
    }
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r;
}

int explain_run(const struct options *options) {
    struct setup *setup = NULL;
    struct errors *errors = calloc(1, sizeof *errors);
    struct shown shown = {.n = 0};
    int r = errors ? load_setup(options, errors, &setup) : -ENOMEM;
    if (r >= 0)
        r = make_views(setup, errors, &shown);
    if (r >= 0)
        r = print(setup, &shown, options->json);
    if (r < 0)
        log_reason(r, errors);
    for (size_t i = 0; i < shown_all(&shown); i++)
        view_unref(shown.types[i].view);
    host_memory_unref(shown.memory);
    load_free(setup);
    free(errors);
    return r != 0 ? EXIT_WRONG : EXIT_SUCCESS;
}
