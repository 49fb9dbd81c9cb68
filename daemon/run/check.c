// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/engine/record.h"
#include "daemon/run/check_host.h"
#include "daemon/run/protection.h"
#include "daemon/run/series.h"
#include "daemon/run/summary.h"
#include "daemon/run/textfile.h"
#include "daemon/source/setup.h"

enum { EXIT_WRONG = 2 };

static const uint64_t ROUND_NS_MAX = UINT64_C(43200000000000); // half a day

// A folder that is missing or may not be written to is a warning only: the daemon may run with another folder, or its
// unit may create the folder. Returns 0, or -EINVAL where no folder helps.
static int check_record(const struct setup *setup, struct errors *errors) {
    if (!setup->record_path)
        return 0;
    int r = 0;
    (void)printf("recording to %s, %.4g MiB at most\n", setup->record_path, (double)setup->record_bytes / (1 << 20));
    for (size_t i = 0; i < setup->n_types; i++) {
        int checked = record_check(setup, &setup->types[i], errors);
        r = checked < 0 ? checked : r;
    }
    for (size_t i = 0; i < errors->n && r == 0; i++)
        (void)printf("warning: %s\n", errors->items[i].text);
    return r;
}

// As for a recording, what the unit or another user may mend is a warning only.
static void check_textfile(const struct setup *setup) {
    const char *folder = setup->textfile.folder;
    int r = folder ? textfile_check(folder) : 0;
    if (folder)
        (void)printf("writing %s/topdownd.prom every %.3g s\n", folder, (double)setup->textfile.interval_ns * 1e-9);
    if (r < 0)
        (void)printf("warning: %s: %s\n", folder, view_textfile_text(r));
}

// A value needs a few rounds: nobody waits days for it.
static int check_rounds(const struct setup *setup, struct plan *const plans[SOURCE_TYPES_MAX], struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < setup->n_types; i++)
        if (plans[i] && plans[i]->round_ns >= ROUND_NS_MAX)
            r = errors_add(errors, NULL, 0, 0,
                           "profile %s: a round takes %.0f hours: make slot or idle smaller, or name fewer groups",
                           setup_profile_name(setup), (double)plans[i]->round_ns / 3600e9);
    return r;
}

// Makes the plans for the counters that the specs state. A replay already has a plan.
static int make_plans(const struct setup *setup, struct errors *errors, struct plan *plans[SOURCE_TYPES_MAX]) {
    int r = 0;
    for (size_t i = 0; i < setup->n_types && r >= 0; i++) {
        if (!setup->types[i].source->past.plan)
            r = setup_plan_stated(setup, &setup->types[i], errors, &plans[i]);
    }
    return r < 0 ? r : check_rounds(setup, plans, errors);
}

static void free_plans(struct plan *plans[SOURCE_TYPES_MAX]) {
    for (size_t i = 0; i < SOURCE_TYPES_MAX; i++)
        plan_free(plans[i]);
}

int check_plans(const struct setup *setup, struct errors *errors) {
    struct plan *plans[SOURCE_TYPES_MAX] = {0};
    int r = make_plans(setup, errors, plans);
    free_plans(plans);
    return r;
}

static void show_plans(const struct setup *setup, struct plan *const plans[SOURCE_TYPES_MAX]) {
    summary_files(setup);
    for (size_t i = 0; i < setup->n_types; i++) {
        const struct plan *past = setup->types[i].source->past.plan;
        summary_config(setup, &setup->types[i], past ? past : plans[i]);
    }
}

// Reads the web configuration and the files that it names, and warns of addresses without any protection.
static int check_protection(const struct setup *setup, const struct options *options, struct errors *errors) {
    char text[ERROR_TEXT_MAX];
    bool warned = options->web.systemd_socket; // its addresses are known to systemd
    struct web *web;
    int r = protection_load(options, errors, &web);
    if (r < 0)
        return r;
    if (web)
        (void)printf("%s: no mistakes\n", options->web.config);
    for (size_t i = 0; i < setup->config->n_listen && !warned; i++) {
        const struct config_listen *listen = &setup->config->listen[i];
        warned = protection_describe(web, &(struct http_address){listen->text, listen->address, listen->port}, text,
                                     sizeof text);
        if (warned)
            (void)printf("warning: %s\n", text);
    }
    web_unref(web);
    return 0;
}

static void show_series(const struct setup *setup, struct plan *plans[SOURCE_TYPES_MAX]) {
    struct series_texts texts;
    series_describe_plans(setup, plans, &texts);
    if (texts.host[0] != '\0')
        (void)printf("warning: %s\n", texts.host);
    if (texts.cpus[0] != '\0')
        (void)printf("warning: %s\n", texts.cpus);
}

// What the configuration means for this host.
static int show(const struct setup *setup, const struct options *options, struct plan *plans[SOURCE_TYPES_MAX],
                struct errors *errors) {
    show_plans(setup, plans);
    show_series(setup, plans);
    int r = check_protection(setup, options, errors);
    check_textfile(setup);
    return r < 0 ? r : check_record(setup, errors);
}

int check_run(const struct options *options) {
    struct setup *setup = calloc(1, sizeof *setup);
    struct errors *errors = calloc(1, sizeof *errors);
    struct plan *plans[SOURCE_TYPES_MAX] = {0};
    int r = setup && errors ? setup_init(setup, options, errors) : -ENOMEM;
    if (r >= 0)
        r = make_plans(setup, errors, plans);
    if (r >= 0 && (options->check.host || options->check.cpu)) {
        summary_files(setup);
        r = check_host(setup, options->check.host, options->check.cpu, errors);
    } else if (r >= 0) {
        r = show(setup, options, plans, errors);
    }
    if (r < 0 && errors && errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    free_plans(plans);
    if (setup)
        setup_deinit(setup);
    free(errors);
    free(setup);
    return r < 0 ? EXIT_WRONG : EXIT_SUCCESS;
}
