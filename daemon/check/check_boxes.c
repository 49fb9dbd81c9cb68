// SPDX-License-Identifier: Apache-2.0
#include "daemon/check/check_boxes.h"

#include <stdio.h>

#include "collectors/pmu/pmu.h"
#include "core/base/decimal.h"
#include "daemon/run/summary.h"

static size_t n_all(const struct setup *setup) { return setup->n_types + setup->n_boxes; }

static const struct plan *plan_of(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX], size_t i) {
    const struct plan *past = setup->types[i].source->past.plan;
    return past ? past : plans[i];
}

int check_boxes_plan(const struct setup *setup, struct errors *errors, struct plan *plans[SETUP_TYPES_MAX]) {
    int r = 0;
    for (size_t i = setup->n_types; i < n_all(setup) && r == 0; i++)
        if (!setup->types[i].source->past.plan)
            r = setup_plan_stated(setup, &setup->types[i], errors, &plans[i]);
    return r;
}

// What is said of the whole host where nothing is measured.
static const char *why_none(const struct setup *setup) {
    const struct source_troubles *troubles = &setup->types[0].source->troubles;
    if (setup->config->uncore.off)
        return "uncore.enabled is off";
    for (size_t i = 0; i < troubles->n; i++)
        if (troubles->errors[i].uncore)
            return troubles->texts[i];
    return setup->types[0].source->replayed ? "the recording holds none" : "this host has none";
}

static void print_all(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX]) {
    char size[DECIMAL_SIZE_MAX];
    size_t files = 0;
    for (size_t i = 0; i < n_all(setup); i++)
        files += summary_files_of(&setup->types[i], plan_of(setup, plans, i));
    (void)printf("needs %zu file descriptors in all, and about %s of the kernel's memory for them\n", files,
                 decimal_write_size((double)files * PMU_EVENT_KERNEL_BYTES, size));
}

void check_boxes_print(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX]) {
    const struct setup_unmeasured *others = &setup->unmeasured;
    for (size_t i = setup->n_types; i < n_all(setup); i++)
        summary_boxes(setup, &setup->types[i], plan_of(setup, plans, i));
    char text[SUMMARY_BOXES_MAX];
    for (size_t i = 0; i < others->n; i++) {
        summary_describe_unmeasured(&others->kinds[i], text, sizeof text);
        (void)printf("%s\n", text);
    }
    if (setup->n_boxes + others->n == 0)
        (void)printf("outside the cores nothing is measured: %s\n", why_none(setup));
    else if (setup->n_boxes > 0 && !setup->types[0].source->replayed)
        print_all(setup, plans);
}

static void write_kind(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX], size_t i,
                       struct json *json) {
    const struct core_type *type = &setup->types[i];
    const struct catalog_product *product = &type->source->catalog->product;
    const struct plan *plan = plan_of(setup, plans, i);
    json_begin_object(json, NULL);
    json_string(json, "pmu", type->source->pmu_name);
    json_string(json, "spec", product->chosen ? NULL : product->spec);
    json_whole(json, "boxes", type->topology->n_cpus);
    json_begin_array(json, "groups");
    for (size_t g = 0; g < type->n_selections; g++)
        json_string(json, NULL, type->source->catalog->groups[type->selections[g].group].name);
    json_end_array(json);
    json_whole(json, "event_groups", plan->n_groups);
    json_number(json, "round_seconds", (double)plan->round_ns * 1e-9);
    json_whole(json, "files", summary_files_of(type, plan));
    json_end_object(json);
}

void check_boxes_write(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX], struct json *json) {
    json_begin_array(json, "uncore");
    for (size_t i = setup->n_types; plans && i < n_all(setup); i++)
        write_kind(setup, plans, i, json);
    json_end_array(json);
    json_begin_array(json, "uncore_not_measured");
    for (size_t i = 0; plans && i < setup->unmeasured.n; i++) {
        const struct setup_unmeasured_kind *kind = &setup->unmeasured.kinds[i];
        json_begin_object(json, NULL);
        json_string(json, "pmu", kind->name);
        json_whole(json, "boxes", kind->n);
        json_string(json, "reason", kind->why);
        json_end_object(json);
    }
    json_end_array(json);
}
