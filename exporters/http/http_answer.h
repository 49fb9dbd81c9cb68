// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_ANSWER_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_ANSWER_H

// What a client gets whose request is admitted: a page, a part of the history, or whether topdownd is healthy and
// ready.

#include "exporters/http/http_newest.h"
#include "exporters/http/http_render.h"
#include "exporters/http/http_reserve.h"

struct http_answers {
    struct http_newest newest;           // has a lock; what follows belongs to the server's thread, but cpus_read
    uint64_t (*clock_ms)(void *context); // tells the age of what is published
    void *clock_context;
    struct http_renderer renderer;
    struct http_reserve reserve;
    atomic_bool cpus_read; // somebody asked for intervals of single CPUs (http_server_cpus_read)
};

// The histories are borrowed.
void http_answers_init(struct http_answers *answers, struct shown_history *history);
void http_answers_deinit(struct http_answers *answers);

// By the clock of what is published.
uint64_t http_answers_now_ms(const struct http_answers *answers);

// Whether topdownd counts what it shall, and in `text` what does not. Any thread may call it.
struct health http_answers_health(struct http_answers *answers, char *text, size_t size);

// Answers a request for this path.
enum MHD_Result http_answer(struct http_answers *answers, struct MHD_Connection *connection, const char *path);

#endif
