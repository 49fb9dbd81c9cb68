// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/measure_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/measure/lease.h"
#include "daemon/measure/output.h"
#include "daemon/measure/remote.h"
#include "daemon/measure/session.h"
#include "daemon/measure/stopper.h"
#include "daemon/measure/tasks_run.h"

enum { EXIT_WRONG = 2 };

int measure_command_check(const struct options *options) {
    const struct options_measure *measure = &options->measure;
    static const char *const scopes[] = {"host", "socket", "cpu"};
    if (options->pmu == PMU_REPLAY)
        return options_say("measure counts what happens now: 'topdownd diff' and --pmu replay:FILE look at recordings");
    if (options->json && measure->csv)
        return options_say("--json or --csv: there is one output");
    if (measure->by && measure->command)
        return options_say("--by tells of CPUs: a command's tasks move between them");
    if (measure->by && report_scope_find(measure->by) < 0)
        return options_refuse("--by takes host, socket or cpu, not", measure->by,
                              error_suggest(measure->by, scopes, sizeof scopes / sizeof *scopes));
    if (measure->seconds > 0 && measure->interval_seconds > measure->seconds)
        return options_say("--interval is longer than --duration");
    return 0;
}

// `r` of the measurement, or a command's status; `written` of the output.
static int status_of(int r, int written) {
    if (r == -EINVAL || written == TERMINAL_LOST)
        return EXIT_WRONG;
    return r < 0 || written < 0 ? EXIT_FAILURE : r;
}

// Says that the daemon that measures here goes on.
static void say_shared(const struct lease *lease) {
    log_warning("%s: the topdownd that runs here may not be asked to yield its counters: both share them, and values "
                "are less certain. Run this as root or as a member of the group topdownd",
                lease->path);
}

// A daemon that may not be asked to yield has measured already: its pages are read where they can be.
static int measure_denied(const struct session_request *request, const struct lease *lease, struct errors *errors) {
    struct session_request reading = *request;
    struct errors unread = {0};
    reading.how = "read";
    int r = remote_run(&reading, &unread);
    if (r >= 0) {
        log_info("the topdownd that runs here may not be asked to yield its counters: these are its own values");
        return r;
    }
    say_shared(lease);
    return session_run(request, errors);
}

static int measure_any(const struct session_request *request, const struct lease *lease, struct errors *errors) {
    bool denied = lease->state == LEASE_DENIED;
    if (denied && request->options->measure.opportunities)
        say_shared(lease);
    if (lease->state == LEASE_YIELDED)
        log_info("the topdownd that runs here yields its counters meanwhile");
    if (!request->options->measure.command)
        return denied && !request->options->measure.opportunities ? measure_denied(request, lease, errors)
                                                                  : session_run(request, errors);
    if (denied)
        say_shared(lease);
    return tasks_run(request, errors);
}

static int measure(const struct options *options, struct stopper *stopper, struct errors *errors) {
    struct output output;
    struct lease lease;
    int r = lease_begin(&lease, options);
    if (r < 0)
        return EXIT_FAILURE;
    output_init(&output, options);
    const struct session_request request = {.options = options,
                                            .how = lease.state == LEASE_YIELDED ? "yielded" : "measured",
                                            .stopper = stopper,
                                            .output = &output,
                                            .tick = lease_renew,
                                            .context = &lease};
    r = measure_any(&request, &lease, errors);
    lease_end(&lease);
    int written = output_end(&output, options->measure.command && r >= 0 ? r : -1);
    if (errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    return status_of(r, written);
}

int measure_command_run(const struct options *options) {
    struct errors *errors = calloc(1, sizeof *errors);
    struct stopper stopper;
    int r = errors ? stopper_init(&stopper) : -ENOMEM;
    int status = r < 0 ? EXIT_FAILURE : measure(options, &stopper, errors);
    if (r < 0)
        log_error("%s", strerror(-r));
    else
        stopper_deinit(&stopper);
    free(errors);
    return status;
}
