// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/yield.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/terminal.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"
#include "exporters/text/json_writer.h"

enum { TIMEOUT_S = 10 };

// Why the counters are not free, or not taken back.
static int fail(const struct options *options, const char *why) {
    struct text out = {0};
    struct json json = json_begin(&out, JSON_SPACED);
    if (!options->json) {
        (void)fprintf(stderr, "topdownd: %s\n", why);
        return EXIT_FAILURE;
    }
    json_begin_object(&json, NULL);
    json_null(&json, "yielded");
    json_null(&json, "seconds");
    json_string(&json, "error", why);
    json_end_object(&json);
    (void)json_end(&json);
    (void)terminal_print(&out);
    text_free(&out);
    return EXIT_FAILURE;
}

static int succeed(const struct options *options) {
    double seconds = options->yield.seconds;
    struct text out = {0};
    if (!options->json) {
        if (seconds > 0)
            text_format(&out, "all counters are free for %.10g s\n", seconds);
        else
            text_string(&out, "topdownd measures again\n");
    } else {
        struct json json = json_begin(&out, JSON_SPACED);
        json_begin_object(&json, NULL);
        json_bool(&json, "yielded", seconds > 0);
        json_number(&json, "seconds", seconds > 0 ? seconds : NAN);
        json_null(&json, "error");
        json_end_object(&json);
        (void)json_end(&json);
    }
    int r = terminal_print(&out);
    text_free(&out);
    return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int yield_run(const struct options *options) {
    char request[CONTROL_REQUEST_MAX], answer[CONTROL_ANSWER_MAX], why[ASK_WHY_MAX + CONTROL_ANSWER_MAX];
    char *path = ask_path(options);
    if (!path)
        return fail(options, "yield: out of memory");
    (void)snprintf(request, sizeof request, "yield %.10g\n", options->yield.seconds);
    int r = ask_daemon(path, request, TIMEOUT_S, answer, sizeof answer, why);
    if (r == 0 && strncmp(answer, "error ", 6) == 0) {
        answer[strcspn(answer, "\n")] = '\0';
        (void)snprintf(why, sizeof why, "%.500s: %s", path, answer + 6);
        r = -1;
    }
    int status = r < 0 ? fail(options, why) : succeed(options);
    free(path);
    return status;
}
