// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/verdict_log.h"

#include <stdio.h>

#include "daemon/base/log.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"

// The line of a log begins with the prefix. Without fields it is no event.
static void log_text(const char *prefix, const struct log_field *fields, struct text *text) {
    text_append(text, "", 1);
    if (!text->failed)
        log_event(fields ? LOG_EVENT_BOTTLENECK : LOG_EVENT_NONE, LOG_LEVEL_INFO, fields, "%s%s", prefix, text->data);
    text_free(text);
}

void verdict_log_name(const struct snapshot *snapshot, char out[VERDICT_LOG_NAME_MAX]) {
    int metric = verdict_metric(&snapshot->verdicts[0].now);
    if (metric >= 0)
        (void)snprintf(out, VERDICT_LOG_NAME_MAX, "topdownd_%s",
                       snapshot->layout->catalog->metrics[metric].export_name);
    else
        (void)snprintf(out, VERDICT_LOG_NAME_MAX, "none");
}

static void log_answer(const struct shown *newest, const struct shown_type *type, const char *prefix) {
    const struct view *view = type->view;
    const struct verdict_since *since = &type->snapshot->verdicts[0].now.since;
    struct text text = {0};
    char time[VIEW_TIME_MAX], name[VERDICT_LOG_NAME_MAX];
    verdict_log_name(type->snapshot, name);
    text_string(&text, view->core_type ? "what these cores are bound by: " : "what this host is bound by: ");
    (void)view_sockets_verdict(newest, type, &text);
    bool known = view_time(since->seconds, time);
    if (known)
        text_format(&text, " %s %s.", since->at_least ? "At least since" : "Since", time);
    const struct log_field fields[] = {
        {"CORE_TYPE", view->core_type}, {"BOUND", name}, {"SINCE", known ? time : NULL}, {NULL, NULL}};
    log_text(prefix, fields, &text);
}

static void log_next(const struct view *view, unsigned metric, const char *prefix) {
    struct text text = {0};
    text_string(&text, "next, ");
    if (view_next_text(view, metric, &text))
        text_string(&text, "; ");
    text_string(&text, "find the code with: ");
    view_sample_command(view, metric, &text);
    log_text(prefix, NULL, &text);
}

void verdict_log_round(struct verdict_log *log, const struct shown_type *type, const char *prefix) {
    const struct snapshot *snapshot = type->snapshot;
    const struct verdict *verdict = &snapshot->verdicts[0].now;
    int metric = verdict_metric(verdict);
    if (snapshot->within_round || metric == VERDICT_NOT_KNOWN || metric != snapshot->verdicts[0].lasting.metric ||
        !(snapshot->taken_seconds - verdict->since.seconds >= VERDICT_LOG_LASTS_SECONDS)) // also NaN
        return;
    if (log->logged && log->metric == metric)
        return;
    log->logged = true;
    log->metric = metric;
    log_answer(log->newest, type, prefix);
    if (metric >= 0 && !verdict->well)
        log_next(type->view, (unsigned)metric, prefix);
}
