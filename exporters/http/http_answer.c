// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_answer.h"

#include <errno.h>
#include <string.h>

#include "exporters/health/health.h"
#include "exporters/history/shown_history.h"
#include "exporters/http/http_accept.h"
#include "exporters/http/http_clock.h"
#include "exporters/http/http_file.h"
#include "exporters/http/http_page.h"
#include "exporters/http/http_respond.h"

static uint64_t now_ms(void) { return http_clock_ms(CLOCK_MONOTONIC); }

void http_answers_init(struct http_answers *answers, struct shown_history *history) {
    answers->clock_ms = http_clock_boot_ms;
    answers->renderer.history = history;
    http_newest_init(&answers->newest);
    http_reserve_init(&answers->reserve);
    (void)http_reserve_take(&answers->reserve);
}

void http_answers_deinit(struct http_answers *answers) {
    http_cache_deinit(&answers->renderer.cache);
    http_reserve_lend(&answers->reserve);
    http_newest_deinit(&answers->newest);
}

uint64_t http_answers_now_ms(const struct http_answers *answers) { return answers->clock_ms(answers->clock_context); }

static enum MHD_Result respond_page(struct http_answers *answers, struct MHD_Connection *connection,
                                    enum http_page page) {
    struct http_accept accept = http_accept_read(connection);
    enum http_coding coding = http_accept_coding(&accept);
    if (coding == HTTP_CODING_NONE)
        return http_respond_not_acceptable(connection);
    if (http_pages[page].openmetrics && http_accept_openmetrics(&accept))
        page = http_pages[page].openmetrics;
    if (http_pages[page].json_scope == JSON_CPU)
        atomic_store(&answers->cpus_read, true);
    struct http_publication publication = http_newest_take(&answers->newest, http_answers_now_ms(answers));
    (void)http_reserve_take(&answers->reserve); // a page takes no space from the next clients' connections
    struct MHD_Response *response;
    int r = http_render(&answers->renderer, page, coding, &publication, now_ms(), &response);
    http_reserve_lend(&answers->reserve);
    http_publication_unref(&publication);
    return http_render_send(&answers->renderer, connection, r, response, now_ms());
}

static void fill_shown(struct shown *shown, const struct http_publication *publication) {
    for (size_t i = 0; i < publication->n; i++)
        shown->types[i] = (struct shown_type){publication->types[i].view, publication->types[i].snapshot};
    shown_count(shown, publication->n);
}

struct health http_answers_health(struct http_answers *answers, char *text, size_t size) {
    struct http_publication publication = http_newest_take(&answers->newest, http_answers_now_ms(answers));
    struct shown shown = {0};
    fill_shown(&shown, &publication);
    struct health health = health_judge(&shown, publication.stale);
    health_text(&shown, publication.stale, text, size);
    http_publication_unref(&publication);
    return health;
}

static enum MHD_Result respond_ready(struct http_answers *answers, struct MHD_Connection *connection) {
    static const char ready[] = "topdownd is ready.\n";
    char text[sizeof ready + HEALTH_TEXT_MAX] = "", *parts = text + strlen(ready);
    struct health health = http_answers_health(answers, parts, HEALTH_TEXT_MAX);
    if (health.ready)
        memcpy(text, ready, strlen(ready));
    return http_respond_text(connection, health.ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE,
                             health.ready ? text : parts);
}

static const char *argument(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static int render_history(struct http_answers *answers, struct MHD_Connection *connection, enum http_coding coding,
                          const struct http_publication *publication, struct http_query_answer *answer) {
    const struct shown_history_query query = {argument(connection, "scope"), argument(connection, "metric"),
                                              argument(connection, "from"), argument(connection, "step")};
    return http_render_history(&answers->renderer, &query, coding, publication, now_ms(), answer);
}

static int render_cpus(struct http_answers *answers, struct MHD_Connection *connection, enum http_coding coding,
                       const struct http_publication *publication, struct http_query_answer *answer) {
    const struct json_cpus_query query = {.metric = argument(connection, "metric")};
    atomic_store(&answers->cpus_read, true);
    return http_render_cpus(&answers->renderer, &query, coding, publication, now_ms(), answer);
}

static int render_cpu(struct http_answers *answers, struct MHD_Connection *connection, enum http_coding coding,
                      const struct http_publication *publication, struct http_query_answer *answer) {
    const struct json_cpus_query query = {.cpu = argument(connection, "cpu")};
    atomic_store(&answers->cpus_read, true);
    return http_render_cpus(&answers->renderer, &query, coding, publication, now_ms(), answer);
}

// True for ?scope=cpu&cpu=7: one of the CPUs.
static bool is_of_one_cpu(struct MHD_Connection *connection) {
    const char *scope = argument(connection, "scope");
    return scope && strcmp(scope, "cpu") == 0 && argument(connection, "cpu");
}

// Answers a query, which may be a wrong one.
static enum MHD_Result respond_query(struct http_answers *answers, struct MHD_Connection *connection,
                                     int (*render)(struct http_answers *, struct MHD_Connection *, enum http_coding,
                                                   const struct http_publication *, struct http_query_answer *)) {
    struct http_accept accept = http_accept_read(connection);
    enum http_coding coding = http_accept_coding(&accept);
    if (coding == HTTP_CODING_NONE)
        return http_respond_not_acceptable(connection);
    struct http_publication publication = http_newest_take(&answers->newest, http_answers_now_ms(answers));
    struct http_query_answer answer;
    (void)http_reserve_take(&answers->reserve);
    int r = render(answers, connection, coding, &publication, &answer);
    http_reserve_lend(&answers->reserve);
    http_publication_unref(&publication);
    return r == -EINVAL ? http_respond_error(connection, answer.error)
                        : http_render_send(&answers->renderer, connection, r, answer.response, now_ms());
}

enum MHD_Result http_answer(struct http_answers *answers, struct MHD_Connection *connection, const char *path) {
    if (strcmp(path, "/-/healthy") == 0)
        return http_respond_text(connection, MHD_HTTP_OK, "topdownd is healthy.\n");
    if (strcmp(path, "/-/ready") == 0)
        return respond_ready(answers, connection);
    if (strcmp(path, "/api/v1/history") == 0)
        return respond_query(answers, connection, render_history);
    if (strcmp(path, "/api/v1/cpus") == 0)
        return respond_query(answers, connection, render_cpus);
    if (strcmp(path, "/api/v1/snapshot") == 0 && is_of_one_cpu(connection))
        return respond_query(answers, connection, render_cpu);
    const struct page_file *file = http_file_find(path);
    if (file)
        return http_file_respond(connection, file);
    int page = http_page_find(path, MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "scope"));
    if (page == -EINVAL)
        return http_respond_error(connection, "there is no such scope: choose host, socket or cpu");
    if (page < 0)
        return http_respond_text(connection, MHD_HTTP_NOT_FOUND, http_page_list);
    return respond_page(answers, connection, (enum http_page)page);
}
