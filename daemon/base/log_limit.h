// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_LOG_LIMIT_H
#define TOPDOWND_DAEMON_BASE_LOG_LIMIT_H

// Limits messages that repeat: of each kind LOG_LIMIT_BURST pass in a minute, and when the minute is over a line says
// how many more there were. Messages are of one kind if they differ only in numbers that stand alone: "process 12" and
// "process 13" are, "l1d" and "l2d" are not. The first message of a kind always passes, also where too many kinds are
// in use to count them.
//
// Time is an argument. Nothing is allocated.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOG_LIMIT_BURST = 5, LOG_LIMIT_KINDS = 48, LOG_LIMIT_TEXT_MAX = 256 };
#define LOG_LIMIT_PERIOD_NS UINT64_C(60000000000)

struct log_limit {
    struct log_kind {
        uint64_t hash;
        uint64_t begun_ns; // of the minute
        unsigned passed;   // in it; 0: not in use
        unsigned held;
        char text[LOG_LIMIT_TEXT_MAX]; // of the first one, perhaps cut
    } kinds[LOG_LIMIT_KINDS];
};

// Whether a message of so many bytes is to be written.
bool log_limit_pass(struct log_limit *limit, uint64_t now_ns, const char *text, size_t length);

// Takes a kind out whose minute is over (all: any kind) and of which messages were held back. Returns their number and
// one of them, terminated; 0: there is none.
unsigned log_limit_take(struct log_limit *limit, uint64_t now_ns, bool all, char out[LOG_LIMIT_TEXT_MAX]);

// When the first such minute is over; UINT64_MAX: nothing is held back.
uint64_t log_limit_due_ns(const struct log_limit *limit);

#endif
