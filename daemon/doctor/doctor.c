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
#include "daemon/uncore/uncore_setup.h"
#include "daemon/verify/verify.h"

enum { EXIT_WRONG = 2 };

int doctor_check(const struct options *options) {
    if (options->pmu == PMU_REPLAY)
        return options_say("doctor looks at a host: a recording has none");
    if (options->doctor.force && !options->doctor.bundle)
        return options_say("--force goes with --bundle FILE");
    return options->doctor.bundle && options->json ? options_say("--bundle has the JSON in it: leave --json out") : 0;
}

// The daemon is asked first: it knows whether it counts. What follows explains.
static void examine(const struct setup *setup, const struct options *options, struct findings *findings) {
    pid_t daemon = doctor_find_daemon(options);
    bool host = !setup->types[0].source->simulated;
    char *status = NULL;
    if (host)
        doctor_check_daemon(setup, options, daemon, findings, &status);
    for (size_t i = 0; i < setup->n_types; i++)
        doctor_check_type(setup, &setup->types[i], host ? daemon : 0, findings);
    doctor_check_uncore(setup, options, findings);
    if (!host)
        return; // all that follows is about the host that this runs on
    doctor_check_rights(setup, findings);
    doctor_check_host(setup, daemon, findings);
    doctor_check_memory(setup, findings);
    doctor_check_ports(setup, daemon, status, findings);
    doctor_check_probe(setup, daemon, status, findings);
    doctor_check_web(setup, options, status, findings);
    free(status);
}

static int print(const struct findings *findings, bool as_json) {
    struct text out = {0};
    int r = as_json ? findings_print_json(findings, &out) : findings_print(findings, &out);
    r = r == 0 ? terminal_print(&out) : r;
    text_free(&out);
    return r;
}

// What was asked for, and its exit status.
struct visit {
    const struct options *options;
    struct setup *setup;
    struct errors *errors;
    struct findings *findings;
    char verified[VERIFY_FOLDER_MAX]; // "": no verification
    int status;
};

static int verify(struct visit *visit) {
    const struct source *source = visit->setup->types[0].source;
    pid_t daemon = source->simulated ? 0 : doctor_find_daemon(visit->options);
    if (daemon > 0 && source->takes_counters)
        return errors_add(visit->errors, NULL, 0, 0,
                          "topdownd is running (process %ld) and has the counters: stop it for the time of the "
                          "verification (systemctl stop topdownd)",
                          (long)daemon);
    return verify_run(visit->options, visit->setup, visit->verified, visit->findings, visit->errors);
}

static int collect(struct visit *visit) {
    const struct bundle_request request = {visit->options, visit->setup, doctor_find_daemon(visit->options),
                                           visit->verified[0] != '\0' ? visit->verified : NULL};
    return bundle_write(&request, visit->errors);
}

// A bundle has the doctor's findings in it, so they are printed where there is something else to say.
static int visit_host(struct visit *visit) {
    const struct options *options = visit->options;
    bool prints = !options->doctor.bundle || options->doctor.verify;
    int r = options->doctor.bundle ? bundle_check(options, visit->errors) : 0;
    if (r == 0 && prints)
        examine(visit->setup, options, visit->findings);
    if (r == 0 && options->doctor.verify)
        r = verify(visit);
    visit->status = findings_count(visit->findings, FINDING_FAILURE) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
    if (r == 0 && prints)
        r = print(visit->findings, options->json);
    return r == 0 && options->doctor.bundle ? collect(visit) : r;
}

int doctor_run(const struct options *options) {
    struct visit visit = {.options = options, .status = EXIT_WRONG};
    visit.setup = calloc(1, sizeof *visit.setup);
    visit.errors = calloc(1, sizeof *visit.errors);
    visit.findings = calloc(1, sizeof *visit.findings);
    int r = visit.setup && visit.errors && visit.findings ? setup_init(visit.setup, options, visit.errors) : -ENOMEM;
    if (r >= 0)
        r = uncore_setup(visit.setup, options, visit.errors);
    if (r >= 0)
        r = visit_host(&visit);
    if (r < 0)
        log_reason(r, visit.errors);
    if (visit.setup)
        setup_deinit(visit.setup);
    free(visit.findings);
    free(visit.errors);
    free(visit.setup);
    return r != 0 ? EXIT_WRONG : visit.status;
}
