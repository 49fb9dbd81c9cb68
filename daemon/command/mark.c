// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/marks.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"
#include "exporters/text/json_writer.h"

enum { TIMEOUT_S = 10 };

int mark_check(const struct options *options) {
    if (!options->word)
        return options_say("what has happened? 'topdownd mark \"deploy db 4.2\"'");
    const char *why = marks_refuse_text(options->word);
    return why ? options_say(why) : 0;
}

// `why` is NULL if the mark is set.
static int tell(const struct options *options, const char *why) {
    struct text out = {0};
    if (!options->json && why) {
        (void)fprintf(stderr, "topdownd: %s\n", why);
        return EXIT_FAILURE;
    }
    if (!options->json) {
        text_string(&out, "marked\n");
    } else {
        struct json json = json_begin(&out, JSON_SPACED);
        json_begin_object(&json, NULL);
        json_bool(&json, "marked", !why);
        json_string(&json, "error", why);
        json_end_object(&json);
        (void)json_end(&json);
    }
    int r = terminal_print(&out);
    text_free(&out);
    return r == 0 && !why ? EXIT_SUCCESS : EXIT_FAILURE;
}

int mark_run(const struct options *options) {
    char request[CONTROL_REQUEST_MAX], answer[CONTROL_ANSWER_MAX], why[ASK_WHY_MAX + CONTROL_ANSWER_MAX];
    char *path = ask_path(options);
    if (!path)
        return tell(options, "mark: out of memory");
    (void)snprintf(request, sizeof request, "mark %s\n", options->word);
    int r = ask_daemon(path, request, TIMEOUT_S, answer, sizeof answer, why);
    if (r == 0 && strncmp(answer, "error ", 6) == 0) {
        answer[strcspn(answer, "\n")] = '\0';
        (void)snprintf(why, sizeof why, "%.500s: %s", path, answer + 6);
        r = -1;
    }
    int status = tell(options, r < 0 ? why : NULL);
    free(path);
    return status;
}
