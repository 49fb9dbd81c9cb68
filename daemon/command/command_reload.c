// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/command_reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/terminal.h"
#include "daemon/run/ask.h"
#include "daemon/run/control.h"
#include "exporters/text/json_writer.h"

// A reload waits for the end of a round, but not for long (daemon/run/reload.h), and for a probe.
enum { TIMEOUT_S = 60, EXIT_WRONG = 2 };

static const char IN_FORCE[] = "ok\n", MISTAKE[] = "error ", WARNING[] = "warning ";

// What an answer says: a line for each mistake; or that there is none, and a line for each warning.
static bool is_in_force(const char *answer) { return strncmp(answer, IN_FORCE, strlen(IN_FORCE)) == 0; }

// What follows `word` in the next line that begins with it; NULL: there are no more.
static const char *next_text(char **rest, const char *word) {
    const char *line;
    while ((line = strsep(rest, "\n")))
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    return NULL;
}

static void put_texts(struct json *json, const char *key, char *answer, const char *word) {
    char *rest = answer;
    json_begin_array(json, key);
    for (const char *text; (text = next_text(&rest, word));)
        json_string(json, NULL, text);
    json_end_array(json);
}

static int say_answer(char *answer) {
    char *rest = answer;
    if (is_in_force(answer)) {
        (void)puts("the configuration is in force");
        (void)fflush(stdout);
        for (const char *warning; (warning = next_text(&rest, WARNING));)
            (void)fprintf(stderr, "topdownd: warning: %s\n", warning);
        return EXIT_SUCCESS;
    }
    for (const char *mistake; (mistake = next_text(&rest, MISTAKE));)
        (void)fprintf(stderr, "topdownd: %s\n", mistake);
    (void)fputs("topdownd: nothing has changed: the daemon goes on with the configuration that it had\n", stderr);
    return EXIT_WRONG;
}

// `answer` is NULL if there is none, for the reason `why`.
static int print_json(char *answer, const char *why) {
    bool in_force = answer && is_in_force(answer);
    struct text out = {0};
    struct json json = json_begin(&out, JSON_SPACED);
    json_begin_object(&json, NULL);
    if (answer)
        json_bool(&json, "in_force", in_force);
    else
        json_null(&json, "in_force");
    put_texts(&json, "mistakes", in_force ? NULL : answer, MISTAKE);
    put_texts(&json, "warnings", in_force ? answer : NULL, WARNING);
    json_string(&json, "error", answer ? NULL : why);
    json_end_object(&json);
    (void)json_end(&json);
    int r = terminal_print(&out);
    text_free(&out);
    return !answer || r != 0 ? EXIT_FAILURE : in_force ? EXIT_SUCCESS : EXIT_WRONG;
}

int command_reload(const struct options *options) {
    char answer[CONTROL_ANSWER_MAX], why[ASK_WHY_MAX] = "out of memory";
    char *path = ask_path(options);
    int r = path ? ask_daemon(path, "reload\n", TIMEOUT_S, answer, sizeof answer, why) : -1;
    free(path);
    if (options->json)
        return print_json(r == 0 ? answer : NULL, why);
    if (r == 0)
        return say_answer(answer);
    (void)fprintf(stderr, "topdownd: %s\n", why);
    return EXIT_FAILURE;
}
