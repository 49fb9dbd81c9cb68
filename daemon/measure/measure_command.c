// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/measure_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/options_error.h"
#include "daemon/measure/output.h"
#include "daemon/measure/session.h"
#include "daemon/measure/stopper.h"

enum { EXIT_WRONG = 2 };

int measure_command_check(const struct options *options) {
    const struct options_measure *measure = &options->measure;
    static const char *const scopes[] = {"host", "socket", "cpu"};
    if (options->pmu == PMU_REPLAY)
        return options_say("measure counts what happens now: 'topdownd diff' and --pmu replay:FILE look at recordings");
    if (options->json && measure->csv)
        return options_say("--json or --csv: there is one output");
    if (measure->by && report_scope_find(measure->by) < 0)
        return options_refuse("--by takes host, socket or cpu, not", measure->by,
                              error_suggest(measure->by, scopes, sizeof scopes / sizeof *scopes));
    if (measure->seconds > 0 && measure->interval_seconds > measure->seconds)
        return options_say("--interval is longer than --duration");
    return 0;
}

int measure_command_run(const struct options *options) {
    struct errors *errors = calloc(1, sizeof *errors);
    struct stopper stopper;
    struct output output;
    int r = errors ? stopper_init(&stopper) : -ENOMEM;
    if (r < 0) {
        log_error("%s", strerror(-r));
        free(errors);
        return EXIT_FAILURE;
    }
    output_init(&output, options);
    const struct session_request request = {
        .options = options, .how = "measured", .stopper = &stopper, .output = &output};
    r = session_run(&request, errors);
    int written = output_end(&output, -1);
    if (errors->n > 0)
        log_errors(errors);
    else if (r < 0)
        log_error("%s", strerror(-r));
    stopper_deinit(&stopper);
    int status = r == -EINVAL || written == TERMINAL_LOST ? EXIT_WRONG
                 : r != 0 || written < 0                  ? EXIT_FAILURE
                                                          : EXIT_SUCCESS;
    free(errors);
    return status;
}
