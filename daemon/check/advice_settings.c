// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <strings.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_guests.h"
#include "core/plan/schedule.h"
#include "daemon/check/advice.h"
#include "daemon/run/summary.h"

static const double SECOND_NS = 1e9, IDLE_LARGE = 0.5, SLOT_SHORT = 0.15;
enum {
    INTERVAL_LONG_S = 30,    // Prometheus usually scrapes every 15 to 60 seconds
    CPU_SERIES_MANY = 50000, // the default of max_cpu_series
    CPUS_TEXT_MAX = 200
};

static struct config_origin place_of(const struct setup *setup, const char *key) {
    return config_place_of(setup->config, setup->profile, key);
}

struct config_origin advice_place_of_group(const struct config *config, const struct config_profile *profile,
                                           const struct catalog *catalog, unsigned group) {
    for (size_t i = 0; i < profile->n_groups; i++)
        if (catalog_find_group(catalog, profile->groups[i].name) == (int)group)
            return profile->groups[i].origin;
    return config_place_of(config, profile, "groups");
}

static size_t n_cores(const struct setup *setup) {
    size_t n = 0;
    for (size_t i = 0; i < setup->n_types; i++)
        n += setup->types[i].topology->n_cores;
    return n;
}

static void advise_slot(const struct setup *setup, struct advice *advice) {
    const struct config_settings *settings = &setup->profile->settings;
    size_t cores = n_cores(setup);
    double usual = (double)schedule_slot_ns(cores), slot = (double)settings->slot_ns;
    if (settings->slot_ns == 0)
        return;
    if (slot < SLOT_SHORT * usual) {
        advice_add(advice, "slot_short", "write slot: auto",
                   "slot is %.0f ms, and %.0f ms would do for %zu cores: each edge of a slot interrupts a CPU, and "
                   "topdownd lengthens slots that exceed its budget",
                   slot * 1e-6, usual * 1e-6, cores);
        advice_place(advice, place_of(setup, "slot"));
    }
    if (settings->slot_ns > settings->interval_ns) {
        advice_add(advice, "interval_below_slot", "make slot shorter, or interval longer",
                   "interval is %.3g s, and a snapshot is made at the end of a slot, which takes %.3g s",
                   (double)settings->interval_ns / SECOND_NS, slot / SECOND_NS);
        advice_place(advice, place_of(setup, "slot"));
    }
}

static void advise_time(const struct setup *setup, struct advice *advice) {
    const struct config_settings *settings = &setup->profile->settings;
    advise_slot(setup, advice);
    if ((double)settings->interval_ns > INTERVAL_LONG_S * SECOND_NS) {
        advice_add(advice, "interval_long", "make it as long as the interval of scrapes, or shorter",
                   "interval is %.3g s: whoever scrapes more often gets the same values again",
                   (double)settings->interval_ns / SECOND_NS);
        advice_place(advice, place_of(setup, "interval"));
    }
    if (settings->idle == 0 && settings->reserve_counters == 0) {
        advice_add(advice, "idle_none", "write idle: 10%, or reserve counters",
                   "idle is 0: perf and guests of this host get a counter only while topdownd has none for it");
        advice_place(advice, place_of(setup, "idle"));
    }
    if (settings->idle > IDLE_LARGE) {
        advice_add(
            advice, "idle_large", "keep idle at 50% or below; 'topdownd yield' hands all counters over for a time",
            "idle is %.0f %%: less than half of the time is measured, so intervals are wider", 100 * settings->idle);
        advice_place(advice, place_of(setup, "idle"));
    }
}

static void advise_counters(const struct setup *setup, const struct core_type *type, struct advice *advice) {
    unsigned reserved = setup->profile->settings.reserve_counters, general = type->source->general_counters;
    if (general > 0 && reserved >= general) {
        advice_add_of(advice, type->source->prefix, false, "reserve_all",
                      "counters.reserve is %u, and this CPU has %u general counters: nothing that needs one is "
                      "measured; make it smaller",
                      reserved, general);
        advice_place(advice, place_of(setup, "counters.reserve"));
    }
}

static bool guests_possible(const struct source *source) {
    return source->takes_counters && !source->simulated && !source->replayed && host_guests_possible(&source->roots);
}

static void advise_guests(const struct setup *setup, struct advice *advice) {
    const struct source *source = setup->types[0].source;
    if (setup->profile->settings.guests == CONFIG_GUESTS_SHARE && guests_possible(source)) {
        advice_add(advice, "guests_share", "write guests: auto where guests use the PMU",
                   "guests is share, and this host can run guests: a kernel that lends counters to guests cannot start "
                   "such a guest while topdownd runs");
        advice_place(advice, place_of(setup, "guests"));
    }
}

// Only the groups of other nodes of the tree than level 1's can be raised.
static void advise_mode(const struct setup *setup, struct advice *advice) {
    static const char *const usual[] = {CONFIG_DEFAULTS, "Software", "stage_1", "Topdown_L1"};
    const struct config_profile *profile = setup->profile;
    bool others = false;
    for (size_t i = 0; i < profile->n_groups; i++) {
        bool is_usual = profile->groups[i].weight_only;
        for (size_t u = 0; u < sizeof usual / sizeof *usual; u++)
            is_usual = is_usual || strcasecmp(profile->groups[i].name, usual[u]) == 0;
        others = others || !is_usual;
    }
    if (profile->settings.mode == CONFIG_MODE_ADAPTIVE && !others) {
        advice_add(advice, "adaptive_alone", "name groups of stage 2 ('topdownd list groups'), or write mode: fixed",
                   "mode is adaptive, and profile %s has hardly a group that could get more of the time",
                   profile->name);
        advice_place(advice, place_of(setup, "mode"));
    }
}

static void advise_series(const struct setup *setup, struct advice *advice) {
    if (setup->profile->settings.max_cpu_series == 0 || setup->profile->settings.max_cpu_series > CPU_SERIES_MANY)
        if (setup_n_cpus(setup) > CPU_SERIES_MANY / 100) {
            advice_add(advice, "cpu_series", "write max_cpu_series: 50000",
                       "max_cpu_series lets /metrics/cpu of %zu CPUs grow beyond %d series, which each scrape takes up",
                       setup_n_cpus(setup), CPU_SERIES_MANY);
            advice_place(advice, place_of(setup, "max_cpu_series"));
        }
}

// The CPUs that the host has, online or not. False: not known, or the settings do not choose among them.
static bool find_cpus(const struct setup *setup, struct cpuset *out) {
    const struct source *first = setup->types[0].source;
    *out = (struct cpuset){{0}};
    if (first->replayed)
        return false;
    if (!first->simulated)
        return host_cpu_present(&first->roots, out);
    bool found = true;
    for (size_t i = 0; i < setup->n_types; i++) {
        struct errors none = {.n = 0};
        struct topology *topology = NULL;
        found = found && source_topology(setup->types[i].source, NULL, &none, &topology) == 0;
        for (size_t cpu = 0; found && cpu < topology->n_cpus; cpu++)
            cpuset_add(out, topology->cpus[cpu].id);
        topology_free(topology);
    }
    return found;
}

static void advise_cpus(const struct setup *setup, struct advice *advice) {
    const struct config_settings *settings = &setup->profile->settings;
    struct cpuset here, missing = settings->cpus;
    char missing_text[CPUS_TEXT_MAX], here_text[CPUS_TEXT_MAX];
    if (settings->cpus_all || !find_cpus(setup, &here))
        return;
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        missing.words[w] &= ~here.words[w];
    if (cpuset_is_empty(&missing))
        return;
    cpuset_format(&missing, missing_text, sizeof missing_text);
    cpuset_format(&here, here_text, sizeof here_text);
    advice_add_of(advice, "", true, "cpus_missing", "cpus names %s, and this host has the CPUs %s", missing_text,
                  here_text);
    advice_place(advice, settings->cpus_origin);
}

void advice_settings(const struct setup *setup, struct advice *advice) {
    advise_time(setup, advice);
    advise_cpus(setup, advice);
    for (size_t i = 0; i < setup->n_types; i++)
        advise_counters(setup, &setup->types[i], advice);
    advise_guests(setup, advice);
    advise_mode(setup, advice);
    advise_series(setup, advice);
}

// ---- what a plan lacks ----

static bool plans_any(const struct plan *plan, const struct catalog_group *group) {
    for (size_t m = 0; m < plan->n_metrics; m++)
        for (size_t i = 0; plan_metric_planned(&plan->metrics[m]) && i < group->n_metrics; i++)
            if (catalog_metric_here(plan->catalog, group->metrics[i]) ==
                catalog_metric_named(plan->catalog, plan->metrics[m].metric))
                return true;
    return false;
}

// True if boxes outside the cores count what a formula needs.
static bool is_outside(const struct catalog *catalog, unsigned metric) {
    const struct formula *formula = catalog->metrics[metric].formula;
    bool outside = false;
    for (size_t i = 0; i < formula->n_variables; i++)
        outside = outside || !catalog_event_for_each_cpu(catalog, formula->variables[i]);
    return outside;
}

void advice_group(struct advice *advice, const char *prefix, const struct catalog *catalog, unsigned group) {
    const struct catalog_group *of = &catalog->groups[group];
    char why[PLAN_REASON_MAX];
    if (of->n_metrics == 0 || catalog_group_measurable(catalog, group) ||
        !catalog_metric_explain(catalog, of->metrics[0], why, sizeof why)) {
        advice_add_of(advice, prefix, false, "group_not_plannable",
                      "no metric of %s can be measured here; 'topdownd explain' has the reasons", of->name);
        return;
    }
    bool outside = is_outside(catalog, of->metrics[0]);
    advice_add_of(advice, prefix, false, "group_not_plannable", "no metric of %s can be measured here: %s%s", of->name,
                  why,
                  outside ? "; uncore.groups chooses what is measured outside the cores ('topdownd list pmus')" : "");
}

static void advise_troubles(const struct source *source, struct advice *advice) {
    for (size_t i = 0; i < source->troubles.n; i++) {
        const struct view_pmu_error *error = &source->troubles.errors[i];
        if (error->uncore)
            continue; // most virtual machines: nothing to change
        advice_add_of(advice, error->of_host ? "" : source->prefix, true, "pmu", "%s: %s", error->pmu, error->text);
    }
}

void advice_plan(const struct setup *setup, const struct core_type *type, const struct plan *plan,
                 struct advice *advice) {
    char text[SUMMARY_LINE_MAX];
    advise_troubles(type->source, advice);
    if (type->missing) {
        advice_add_of(advice, type->source->prefix, false, "groups_missing", "%s %s", summary_cannot(type->source),
                      type->missing);
        advice_place(advice, place_of(setup, "groups"));
    }
    if (summary_describe_long_round(plan, text, sizeof text)) {
        advice_add_of(advice, type->source->prefix, false, "round_long", "%s", text);
        advice_place(advice, place_of(setup, "slot"));
    }
    for (size_t i = 0; i < type->n_selections && !type->source->replayed; i++) {
        const struct catalog_group *group = &plan->catalog->groups[type->selections[i].group];
        if (!plans_any(plan, group)) {
            advice_group(advice, type->source->prefix, plan->catalog, type->selections[i].group);
            advice_place(
                advice, advice_place_of_group(setup->config, setup->profile, plan->catalog, type->selections[i].group));
        }
    }
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (!plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary)
            advice_add_of(advice, type->source->prefix, true, "metric_not_plannable", "metric %s is not plannable: %s",
                          plan->catalog->metrics[plan->metrics[m].metric].export_name, plan->metrics[m].reason);
}
