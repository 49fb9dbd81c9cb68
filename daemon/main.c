// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/eval.h"
#include "daemon/command/list.h"
#include "daemon/base/options.h"
#include "daemon/command/yield.h"
#include "daemon/run/check.h"
#include "daemon/run/service.h"

int main(int argc, char **argv) {
    struct options options;
    if (argc > 1 && strcmp(argv[1], "list") == 0)
        return list_main(argc - 1, argv + 1); // has options of its own
    if (options_parse(argc, argv, &options) < 0)
        return 2;
    switch (options.command) {
    case COMMAND_HELP:
        options_help();
        return EXIT_SUCCESS;
    case COMMAND_VERSION:
        (void)puts("topdownd " TOPDOWND_VERSION);
        return EXIT_SUCCESS;
    case COMMAND_CHECK_CONFIG:
        return check_run(&options);
    case COMMAND_YIELD:
        return yield_run(&options);
    case COMMAND_EVAL:
        return eval_run(&options);
    default:
        return service_run(&options);
    }
}
