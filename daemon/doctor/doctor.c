// SPDX-License-Identifier: Apache-2.0
#include "daemon/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/bundle/bundle.h"
#include "daemon/doctor/doctor_parts.h"

enum { EXIT_WRONG = 2 };

int doctor_check(const struct options *options) {
    if (options->pmu == PMU_REPLAY)
        return options_say("doctor looks at a host: a recording has none");
    if (options->doctor.force && !options->doctor.bundle)
        return options_say("--force goes with --bundle FILE");
    return options->doctor.bundle && options->json ? options_say("--bundle has the JSON in it: leave --json out") : 0;
}

static void examine(const struct setup *setup, const struct options *options, struct findings *findings) {
    pid_t daemon = doctor_find_daemon(options);
    bool host = !setup->types[0].source->simulated;
    for (size_t i = 0; i < setup->n_types; i++)
        doctor_check_type(setup, &setup->types[i], host ? daemon : 0, findings);
    if (!host)
        return; // all that follows is about the host that this runs on
    doctor_check_rights(setup, findings);
    doctor_check_host(setup, daemon, findings);
    doctor_check_service(setup, daemon, findings);
}

static int print(const struct findings *findings, bool as_json) {
    struct text out = {0};
    int r = as_json ? findings_print_json(findings, &out) : findings_print(findings, &out);
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r;
}

static int collect(const struct setup *setup, const struct options *options, struct errors *errors) {
    const struct bundle_request request = {options, setup, doctor_find_daemon(options), NULL};
    return bundle_write(&request, errors);
}

int doctor_run(const struct options *options) {
    struct setup *setup = calloc(1, sizeof *setup);
    struct errors *errors = calloc(1, sizeof *errors);
    struct findings *findings = calloc(1, sizeof *findings);
    int r = setup && errors && findings ? setup_init(setup, options, errors) : -ENOMEM, status = EXIT_WRONG;
    if (r >= 0 && options->doctor.bundle)
        r = bundle_check(options, errors);
    if (r >= 0 && options->doctor.bundle) {
        r = collect(setup, options, errors);
        status = EXIT_SUCCESS;
    } else if (r >= 0) {
        examine(setup, options, findings);
        status = findings_count(findings, FINDING_FAILURE) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
        r = print(findings, options->json);
    }
    if (r < 0 && errors && errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    if (setup)
        setup_deinit(setup);
    free(findings);
    free(errors);
    free(setup);
    return r != 0 ? EXIT_WRONG : status;
}
