// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/run/record.h"
#include "daemon/run/summary.h"
#include "daemon/source/setup.h"

enum { EXIT_WRONG = 2 };

// Only warns: the daemon may run with another folder, or its unit may create the folder.
static void show_record(const struct setup *setup, struct errors *errors) {
    if (!setup->record_path)
        return;
    (void)printf("recording to %s, %.4g MiB at most\n", setup->record_path, (double)setup->record_bytes / (1 << 20));
    for (size_t i = 0; i < setup->n_types; i++)
        (void)record_check(setup, &setup->types[i], errors);
    for (size_t i = 0; i < errors->n; i++)
        (void)printf("warning: %s\n", errors->items[i].text);
}

// A replay already has a plan.
static int make_plans(const struct setup *setup, struct errors *errors, struct plan *plans[SOURCE_TYPES_MAX]) {
    int r = 0;
    for (size_t i = 0; i < setup->n_types && r >= 0; i++)
        if (!setup->types[i].source->past.plan)
            r = setup_plan(setup, &setup->types[i], NULL, setup->types[i].source->general_counters,
                           setup->profile->settings.reserve_counters, 1, errors, &plans[i]);
    return r;
}

static void show_plans(const struct setup *setup, struct plan *const plans[SOURCE_TYPES_MAX]) {
    summary_files(setup);
    for (size_t i = 0; i < setup->n_types; i++) {
        const struct plan *past = setup->types[i].source->past.plan;
        summary_config(setup, &setup->types[i], past ? past : plans[i]);
    }
}

int check_run(const struct options *options) {
    struct setup *setup = calloc(1, sizeof *setup);
    struct errors *errors = calloc(1, sizeof *errors);
    struct plan *plans[SOURCE_TYPES_MAX] = {0};
    int r = setup && errors ? setup_init(setup, options, errors) : -ENOMEM;
    if (r >= 0)
        r = make_plans(setup, errors, plans);
    if (r < 0 && errors && errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    else
        show_plans(setup, plans);
    if (r >= 0)
        show_record(setup, errors);
    for (size_t i = 0; i < SOURCE_TYPES_MAX; i++)
        plan_free(plans[i]);
    if (setup)
        setup_deinit(setup);
    free(errors);
    free(setup);
    return r < 0 ? EXIT_WRONG : EXIT_SUCCESS;
}
