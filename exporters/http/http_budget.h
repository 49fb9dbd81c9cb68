// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_BUDGET_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_BUDGET_H

// What all answers together may take: pages that are kept for the next client, pages that slow readers still read,
// however old, and what the kernel holds of an answer for its reader.
//
// A load is the memory of one answer, which many may read. It leaves once nobody keeps it, and all its readers are
// gone or being reset: the HTTP library closes their connections a moment later. Above HTTP_ANSWER_BYTES_MAX, what
// does not leave yet must shrink: the slowest reader is reset, until the rest fits. What leaves still exists, so above
// HTTP_ANSWER_BYTES_LIMIT nothing new is made for a moment.
//
// The slowest reader has taken least for its time, as the kernel counts what the other side has acknowledged. Each
// begins with a credit, so that nobody is the slowest because he has just asked.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_ANSWER_BYTES_MAX = 40 << 20, HTTP_ANSWER_BYTES_LIMIT = 72 << 20 };

// What the kernel holds at most of an answer for one reader (http_listen.c).
enum { HTTP_UNREAD_BYTES_MAX = 256 << 10 };

struct http_load {
    size_t bytes;
    size_t n_readers; // those that are not being reset
    bool kept;        // for whoever asks next, or for the next rendering
    bool leaving;     // counted in the budget's `leaving`
};

// Who reads an answer; a part of a connection. All zero: reads none.
struct http_reader {
    struct http_load *load;
    struct http_reader *next;
    size_t unread_max; // what the kernel may hold for it
    uint64_t since_ms;
    uint64_t before; // its progress then
};

struct http_budget {
    size_t bytes;   // of all loads
    size_t leaving; // of those that leave
    size_t unread;  // what the kernel may hold for all readers
    struct http_reader *readers;
    // How many bytes the other side has acknowledged, and how to end it; NULL: of an http_connection.
    uint64_t (*progress)(const struct http_reader *reader);
    void (*reset)(struct http_reader *reader);
};

// The load has so many bytes now.
void http_budget_resize(struct http_budget *budget, struct http_load *load, size_t bytes);
void http_budget_keep(struct http_budget *budget, struct http_load *load, bool kept);
// The load is no more, and nobody reads it.
void http_budget_give(struct http_budget *budget, struct http_load *load);

void http_budget_begin(struct http_budget *budget, struct http_reader *reader, struct http_load *load, uint64_t now_ms);
// Its answer has ended. It may have been reset before, or read nothing.
void http_budget_end(struct http_budget *budget, struct http_reader *reader);

// Whether so many bytes more are within HTTP_ANSWER_BYTES_MAX, once what leaves has gone.
bool http_budget_fits(const struct http_budget *budget, size_t more);
// Whether they are within HTTP_ANSWER_BYTES_LIMIT now.
bool http_budget_allows(const struct http_budget *budget, size_t more);

// False if nobody reads.
bool http_budget_reset_slowest(struct http_budget *budget, uint64_t now_ms);

#endif
