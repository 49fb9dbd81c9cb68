// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <string.h>

#include "daemon/check/advice.h"
#include "daemon/doctor/doctor_parts.h"
#include "daemon/run/summary.h"

// What is measured outside the cores, what is not although the host has it, and how much the memory can move.

static const double GIGABYTE = 1e9;

static bool measures(const struct core_type *kind, const struct plan *plan, enum traffic traffic) {
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (kind->source->catalog->metrics[plan->metrics[i].metric].traffic == traffic &&
            plan_metric_planned(&plan->metrics[i]))
            return true;
    return false;
}

// Boxes may be left out: their socket has no peak then, as the configuration wants it.
static void check_peak(const struct topology *boxes, bool measured, struct findings *findings) {
    size_t n_unknown = 0, first = 0;
    double least = HUGE_VAL, most = 0;
    for (size_t s = 0; s < boxes->n_sockets; s++) {
        const struct topology_socket *socket = &boxes->sockets[s];
        double peak = socket->memory_bytes_per_second;
        if (peak > 0) {
            least = fmin(least, peak);
            most = fmax(most, peak);
        } else if (socket->excluded == 0 && n_unknown++ == 0) {
            first = s;
        }
    }
    if (n_unknown > 0 && measured) {
        findings_add(findings, FINDING_OK, "memory_peak",
                     "how much the memory of a socket can move is measured: its boxes count the memory's clock");
    } else if (n_unknown > 0) {
        findings_add(findings, FINDING_WARNING, "memory_peak",
                     "how much the memory of socket %u%s can move is not known, so nobody can tell which share of that "
                     "is used",
                     boxes->sockets[first].id, n_unknown > 1 ? " and of others" : "");
        findings_remedy(findings, "'topdownd memory' as root says what is missing; uncore.peak in the configuration "
                                  "can state it");
    } else if (most > least) {
        findings_add(findings, FINDING_OK, "memory_peak", "the memory of a socket can move %.1f to %.1f GB/s",
                     least / GIGABYTE, most / GIGABYTE);
    } else if (most > 0) {
        findings_add(findings, FINDING_OK, "memory_peak", "the memory of a socket can move %.1f GB/s", most / GIGABYTE);
    }
}

static const char *remedy_of(const struct view_pmu_error *trouble) {
    static const struct {
        const char *reason, *remedy;
    } remedies[] = {
        {"left_out", "leave it if that is meant; else see uncore.boxes in the configuration"},
        {"no_room", "choose with uncore.groups and uncore.pmus in the configuration what is measured"},
        {"scale", "compare with another tool that reads these PMUs, and report it if that one is right"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        if (strcmp(trouble->reason, remedies[i].reason) == 0)
            return remedies[i].remedy;
    return "'topdownd list boxes' and 'topdownd list pmus' show what this host has, and why something is not measured";
}

static void check_kind(const struct setup *setup, const struct core_type *kind, struct findings *findings) {
    const struct source *source = kind->source;
    char text[SUMMARY_BOXES_MAX];
    struct errors errors = {0};
    struct plan *plan;
    if (setup_plan_stated(setup, kind, &errors, &plan) < 0)
        return; // the check of the configuration says why
    summary_describe_boxes(setup, kind, plan, text, sizeof text);
    findings_add(findings, FINDING_OK, "uncore", "%s%s", source->prefix, text);
    for (size_t i = 0; i < source->troubles.n; i++) {
        findings_add(findings, FINDING_WARNING, "uncore", "%s%s", source->prefix, source->troubles.errors[i].text);
        findings_remedy(findings, "%s", remedy_of(&source->troubles.errors[i]));
    }
    if (measures(kind, plan, TRAFFIC_MEMORY_READ) || measures(kind, plan, TRAFFIC_MEMORY_ALL))
        check_peak(kind->topology, measures(kind, plan, TRAFFIC_MEMORY_PEAK), findings);
    plan_free(plan);
}

static bool is_virtual(const struct setup *setup) {
    const struct platform_fact *fact = &setup->platform->facts[PLATFORM_VIRTUAL_MACHINE];
    return fact->n_values > 0 && strcmp(fact->values[0].text, "no") != 0;
}

// A virtual machine without these PMUs is as it should be.
static void say_trouble(const struct setup *setup, const struct view_pmu_error *trouble, struct findings *findings) {
    bool none = strcmp(trouble->pmu, "uncore") == 0 && strcmp(trouble->reason, "not_present") == 0;
    bool expected = none && is_virtual(setup);
    findings_add(findings, expected ? FINDING_OK : FINDING_WARNING, "uncore", "%s", trouble->text);
    if (!expected)
        findings_remedy(findings, "%s",
                        none ? "the kernel's drivers of these PMUs may be modules that are not loaded (intel_uncore, "
                               "amd_uncore, arm_cmn and others), or be older than this CPU"
                             : remedy_of(trouble));
}

// What the configuration names and this host lacks, or has otherwise.
static void check_configuration(const struct setup *setup, const struct options *options, struct findings *findings) {
    struct advice advice = {.items = NULL};
    advice_uncore(setup, options, &advice);
    for (size_t i = 0; i < advice.n; i++) {
        const struct advice_item *item = &advice.items[i];
        findings_add(findings, FINDING_WARNING, item->check, "%s%s%s", item->prefix, config_origin_text(item->at).text,
                     item->text);
        findings_remedy(findings, "%s",
                        item->remedy ? item->remedy
                                     : "leave it where the configuration is meant for other hosts, too; 'topdownd list "
                                       "pmus' and 'topdownd list boxes' show what this one has");
    }
    advice_deinit(&advice);
}

void doctor_check_uncore(const struct setup *setup, const struct options *options, struct findings *findings) {
    const struct source_troubles *first = &setup->types[0].source->troubles;
    const struct setup_unmeasured *others = &setup->unmeasured;
    char text[SUMMARY_BOXES_MAX];
    if (setup->config->uncore.off)
        findings_add(findings, FINDING_OK, "uncore", "outside the cores nothing is measured: uncore.enabled is off");
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes; i++)
        check_kind(setup, &setup->types[i], findings);
    for (size_t i = 0; i < first->n; i++)
        if (first->errors[i].uncore)
            say_trouble(setup, &first->errors[i], findings);
    check_configuration(setup, options, findings);
    for (size_t i = 0; i < others->n; i++) {
        summary_describe_unmeasured(&others->kinds[i], text, sizeof text);
        findings_add(findings, FINDING_OK, "not_measured", "%s", text);
    }
}
