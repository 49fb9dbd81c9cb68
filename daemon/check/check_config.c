// SPDX-License-Identifier: Apache-2.0
#include "daemon/check/check_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/check/advice.h"
#include "daemon/check/check_boxes.h"
#include "daemon/check/check_host.h"
#include "daemon/record/record.h"
#include "daemon/run/protection.h"
#include "daemon/run/series_limits.h"
#include "daemon/run/startable.h"
#include "daemon/run/summary.h"
#include "daemon/uncore/uncore_setup.h"
#include "exporters/web/web.h"

enum { EXIT_WRONG = 2 };

struct checked {
    struct options options;
    struct errors errors;
    struct setup setup;
    struct plan *plans[SETUP_TYPES_MAX]; // without those of a replay
    struct check_host host;
    struct web *web; // NULL: none
    struct advice advice;
};

int check_config_check(const struct options *options) {
    return options->word && options->config_given
               ? options_say("which file? 'topdownd check-config FILE' and --config FILE mean the same")
               : 0;
}

// ---- checking ----

static int find_mistakes_of_recording(struct checked *checked) {
    int r = 0;
    for (size_t i = 0; i < checked->setup.n_types && checked->setup.record_path; i++) {
        struct errors passing = {.n = 0};
        int found = record_check(&checked->setup, &checked->setup.types[i], &passing);
        for (size_t e = 0; e < passing.n && found < 0; e++)
            r = errors_add(&checked->errors, passing.items[e].file, passing.items[e].line, passing.items[e].column,
                           "%s", passing.items[e].text);
        r = found < 0 && r == 0 ? found : r;
    }
    return r;
}

static const struct plan *plan_of(const struct checked *checked, size_t i) {
    const struct plan *past = checked->setup.types[i].source->past.plan;
    return past ? past : checked->plans[i];
}

// All mistakes, also of the files that the command line names.
static int find_mistakes(struct checked *checked) {
    const struct options *options = &checked->options;
    int r = setup_init(&checked->setup, options, &checked->errors);
    if (r >= 0)
        r = uncore_setup(&checked->setup, options, &checked->errors);
    if (r >= 0)
        r = startable_make_plans(&checked->setup, &checked->errors, checked->plans);
    if (r >= 0)
        r = check_boxes_plan(&checked->setup, &checked->errors, checked->plans);
    if (r >= 0)
        r = check_host_find(&checked->setup, options->check.host, options->check.cpu, &checked->errors, &checked->host);
    int recording = r >= 0 ? find_mistakes_of_recording(checked) : 0;
    int web = protection_load(options, &checked->errors, &checked->web);
    return r < 0 ? r : recording < 0 ? recording : web;
}

static bool is_of_another(const struct checked *checked) {
    return checked->options.check.host || checked->options.check.cpu;
}

static void advise_host(struct checked *checked) {
    for (size_t i = 0; i < checked->host.n_types; i++) {
        const struct check_type *type = &checked->host.types[i];
        if (type->missing[0] != '\0') {
            advice_add(&checked->advice, "groups_missing", NULL, "this CPU does not have %s", type->missing);
            advice_place(&checked->advice, config_place_of(checked->setup.config, checked->host.profile, "groups"));
        }
        for (size_t g = 0; g < type->n_selections; g++)
            if (!catalog_group_measurable(type->catalog, type->selections[g].group)) {
                advice_group(&checked->advice, "", type->catalog, type->selections[g].group);
                advice_place(&checked->advice, advice_place_of_group(checked->setup.config, checked->host.profile,
                                                                     type->catalog, type->selections[g].group));
            }
    }
}

// The pages take plans of their own.
static void advise_series(struct checked *checked) {
    const struct config *config = checked->setup.config;
    struct plan *plans[SETUP_TYPES_MAX] = {0};
    struct errors errors = {.n = 0}; // there are none: the same plans have been made
    struct series_limits_texts texts = {{0}, {0}};
    if (startable_make_plans(&checked->setup, &errors, plans) >= 0)
        series_limits_describe_plans(&checked->setup, plans, &texts);
    startable_free_plans(plans);
    if (texts.host[0] != '\0') {
        advice_add(&checked->advice, "series", NULL, "%s", texts.host);
        advice_place(&checked->advice, config_place_of(config, checked->setup.profile, "max_series"));
    }
    if (texts.cpus[0] != '\0') {
        advice_add(&checked->advice, "cpu_series", NULL, "%s", texts.cpus);
        advice_place(&checked->advice, config_place_of(config, checked->setup.profile, "max_cpu_series"));
    }
}

static void advise(struct checked *checked) {
    const struct setup *setup = &checked->setup;
    advice_hosts(setup, &checked->advice);
    if (is_of_another(checked)) {
        advise_host(checked);
        return;
    }
    advice_outputs(setup, checked->web, checked->options.web.systemd_socket, &checked->advice);
    advice_settings(setup, &checked->advice);
    advice_troubles(setup, &checked->advice);
    advice_uncore(setup, &checked->options, &checked->advice);
    advise_series(checked);
    for (size_t i = 0; i < setup->n_types; i++)
        advice_plan(setup, &setup->types[i], plan_of(checked, i), &checked->advice);
}

// ---- for people ----

static void print_outputs(const struct checked *checked) {
    const struct setup *setup = &checked->setup;
    if (checked->web)
        (void)printf("%s: no mistakes\n", checked->options.web.config);
    if (setup->textfile.folder)
        (void)printf("writing %s/topdownd.prom every %.3g s\n", setup->textfile.folder,
                     (double)setup->textfile.interval_ns * 1e-9);
    if (setup->record_path)
        (void)printf("recording to %s, %.4g MiB at most\n", setup->record_path,
                     (double)setup->record_bytes / (1 << 20));
}

static void print(const struct checked *checked) {
    summary_files(&checked->setup);
    if (is_of_another(checked)) {
        check_host_print(&checked->host);
        return;
    }
    for (size_t i = 0; i < checked->setup.n_types; i++)
        summary_config(&checked->setup, &checked->setup.types[i], plan_of(checked, i));
    check_boxes_print(&checked->setup, checked->plans);
    print_outputs(checked);
}

// ---- for programs ----

static void write_plan(const struct core_type *type, const struct plan *plan, struct json *json) {
    size_t metrics = 0;
    for (size_t m = 0; m < plan->n_metrics; m++)
        metrics += plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary;
    json_whole(json, "cpus", type->topology->n_cpus);
    json_whole(json, "metrics", metrics);
    json_whole(json, "event_groups", plan->n_groups);
    json_number(json, "round_seconds", (double)plan->round_ns * 1e-9);
    json_number(json, "slot_seconds", (double)plan->slot_ns * 1e-9);
    json_whole(json, "files", summary_files_of(type, plan));
}

static void write_type(const struct checked *checked, size_t i, struct json *json) {
    const struct check_type *type = &checked->host.types[i];
    json_begin_object(json, NULL);
    json_string(json, "spec", type->spec);
    json_begin_array(json, "groups");
    for (size_t g = 0; g < type->n_selections; g++)
        json_string(json, NULL, type->catalog->groups[type->selections[g].group].name);
    json_end_array(json);
    if (!is_of_another(checked))
        write_plan(&checked->setup.types[i], plan_of(checked, i), json);
    json_end_object(json);
}

static void write_mistakes(const struct errors *errors, struct json *json) {
    json_begin_array(json, "mistakes");
    for (size_t i = 0; i < errors->n; i++) {
        const struct error *error = &errors->items[i];
        json_begin_object(json, NULL);
        json_string(json, "file", error->file[0] != '\0' ? error->file : NULL);
        json_whole(json, "line", error->line);
        json_whole(json, "column", error->column);
        json_string(json, "text", error->text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void write_json(const struct checked *checked, bool valid, struct text *out) {
    const struct check_host *host = &checked->host;
    struct json json = json_begin(out, JSON_SPACED);
    json_begin_object(&json, NULL);
    json_bool(&json, "valid", valid);
    json_begin_array(&json, "files");
    for (size_t i = 0; valid && i < checked->setup.config->n_files; i++)
        json_string(&json, NULL, checked->setup.config->files[i]);
    json_end_array(&json);
    json_string(&json, "hostname", valid ? host->hostname : NULL);
    json_string(&json, "profile", valid ? host->profile->name : NULL);
    json_begin_array(&json, "core_types");
    for (size_t i = 0; valid && i < host->n_types; i++)
        write_type(checked, i, &json);
    json_end_array(&json);
    check_boxes_write(&checked->setup, valid && !is_of_another(checked) ? checked->plans : NULL, &json);
    write_mistakes(&checked->errors, &json);
    advice_print_json(&checked->advice, "warnings", &json);
    json_end_object(&json);
    (void)json_end(&json);
}

// ---- all of it ----

static int print_json(const struct checked *checked, bool valid) {
    struct text out = {0};
    write_json(checked, valid, &out);
    int r = terminal_print(&out);
    text_free(&out);
    return r;
}

// Returns 0, TERMINAL_LOST or -ENOMEM.
static int show(const struct checked *checked, bool valid) {
    if (checked->options.json)
        return print_json(checked, valid);
    if (valid) {
        print(checked);
        advice_print(&checked->advice);
    } else {
        log_errors(&checked->errors);
    }
    return 0;
}

static void deinit(struct checked *checked) {
    advice_deinit(&checked->advice);
    web_unref(checked->web);
    check_host_deinit(&checked->host);
    startable_free_plans(checked->plans);
    setup_deinit(&checked->setup);
}

int check_config_run(const struct options *options) {
    struct checked *checked = calloc(1, sizeof *checked);
    if (!checked) {
        log_error("%s", strerror(ENOMEM));
        return EXIT_WRONG;
    }
    checked->options = *options;
    checked->options.all_warnings = true;
    checked->options.config_given = options->config_given || options->word;
    if (options->word)
        checked->options.config = options->word;
    int r = find_mistakes(checked);
    if (r >= 0)
        advise(checked);
    r = checked->advice.failed ? -ENOMEM : r;
    if (r < 0 && checked->errors.n == 0)
        (void)errors_add(&checked->errors, NULL, 0, 0, "%s", strerror(-r));
    int shown = show(checked, r >= 0);
    bool unwise = options->check.strict && advice_of_configuration(&checked->advice);
    deinit(checked);
    free(checked);
    return r < 0 || shown != 0 ? EXIT_WRONG : unwise ? EXIT_FAILURE : EXIT_SUCCESS;
}
