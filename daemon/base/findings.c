// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/findings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exporters/text/json_writer.h"

// For programs and for people.
static const char *const STATES[FINDING_STATES] = {"ok", "not_checked", "warning", "failure"};
static const char *const SHOWN[FINDING_STATES] = {"ok", "not checked", "WARNING", "FAILURE"};

void findings_add(struct findings *findings, enum finding_state state, const char *check, const char *format, ...) {
    va_list arguments;
    if (findings->n == FINDINGS_MAX)
        return;
    struct finding *finding = &findings->items[findings->n++];
    *finding = (struct finding){.state = state, .check = check};
    va_start(arguments, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

void findings_remedy(struct findings *findings, const char *format, ...) {
    va_list arguments;
    struct finding *finding = &findings->items[findings->n - 1];
    va_start(arguments, format);
    (void)vsnprintf(finding->remedy, sizeof finding->remedy, format, arguments);
    va_end(arguments);
}

size_t findings_count(const struct findings *findings, enum finding_state state) {
    size_t n = 0;
    for (size_t i = 0; i < findings->n; i++)
        n += findings->items[i].state == state;
    return n;
}

enum { WIDTH = 110, STATE_WIDTH = 11, CHECK_WIDTH = 18, INDENT = STATE_WIDTH + CHECK_WIDTH + 4 };

static void print_finding(const struct finding *finding, struct text *out) {
    text_format(out, "%-*s  %-*s  ", STATE_WIDTH, SHOWN[finding->state], CHECK_WIDTH, finding->check);
    text_folded(out, finding->text, INDENT, WIDTH);
    if (finding->remedy[0] == '\0')
        return;
    text_format(out, "%*s-> ", INDENT, "");
    text_folded(out, finding->remedy, INDENT + 3, WIDTH);
}

int findings_print(const struct findings *findings, struct text *out) {
    size_t failures = findings_count(findings, FINDING_FAILURE), warnings = findings_count(findings, FINDING_WARNING);
    for (size_t i = 0; i < findings->n; i++)
        print_finding(&findings->items[i], out);
    text_format(out, "\n%s: %zu failure%s, %zu warning%s\n",
                failures > 0   ? "topdownd cannot measure this host as it is"
                : warnings > 0 ? "topdownd can measure this host, within the limits above"
                               : "this host is fit to be measured",
                failures, failures == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
    return out->failed ? -ENOMEM : 0;
}

int findings_print_json(const struct findings *findings, struct text *out) {
    struct json json = json_begin(out, JSON_SPACED);
    json_begin_object(&json, NULL);
    json_bool(&json, "fit", findings_count(findings, FINDING_FAILURE) == 0);
    json_whole(&json, "failures", findings_count(findings, FINDING_FAILURE));
    json_whole(&json, "warnings", findings_count(findings, FINDING_WARNING));
    json_begin_array(&json, "findings");
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->items[i];
        json_begin_object(&json, NULL);
        json_string(&json, "check", finding->check);
        json_string(&json, "state", STATES[finding->state]);
        json_string(&json, "text", finding->text);
        json_string(&json, "remedy", finding->remedy[0] != '\0' ? finding->remedy : NULL);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    return json_end(&json);
}
