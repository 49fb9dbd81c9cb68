// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HISTORY_MARKS_H
#define TOPDOWND_CORE_HISTORY_MARKS_H

// What happened on a host besides its load, so that a reader of its values sees what else changed then. The newest
// MARKS_MAX are kept.

#include <stddef.h>
#include <stdint.h>

enum mark_kind {
    MARK_START,   // topdownd began to measure
    MARK_RELOAD,  // another configuration
    MARK_PLAN,    // other event groups: counters were lost or came back, or events turned out not to count
    MARK_ADAPT,   // a decision of the adaptive schedule
    MARK_YIELD,   // the counters were handed over on request
    MARK_RESUME,  // and taken back
    MARK_CPUS,    // CPUs went offline or came back
    MARK_GAP,     // nothing was measured for a while
    MARK_CLOCK,   // the wall clock was set
    MARK_VERDICT, // the host's bottleneck became another one
    MARK_USER,    // somebody set it, such as a deployment (`topdownd mark`)
    MARK_KINDS
};
const char *mark_kind_name(enum mark_kind kind); // one word, for programs

// Marks that somebody sets are at most MARKS_USER_MAX of them, so that a program that sets many hides no other.
enum { MARKS_MAX = 128, MARKS_USER_MAX = 64, MARK_TEXT_MAX = 120 };

struct mark {
    int64_t at_ns; // by the clock of the snapshots; below 0: before the host booted
    enum mark_kind kind;
    char text[MARK_TEXT_MAX]; // for people
};

struct marks {
    size_t n; // ever added
    struct mark ring[MARKS_MAX];
};

void marks_add(struct marks *marks, int64_t at_ns, enum mark_kind kind, const char *text);

// Whether a text can be that of a mark which somebody sets: 1 to MARK_TEXT_MAX - 1 bytes of UTF-8 on one line, without
// control characters and those that change the direction of writing. Returns NULL, or what is wrong with it, for
// people.
const char *marks_refuse_text(const char *text);

// How many there are, and the i-th of them, oldest first.
size_t marks_count(const struct marks *marks);
const struct mark *marks_get(const struct marks *marks, size_t i);

// Moves those before a moment: they are of an earlier boot, and the clock was set.
void marks_move(struct marks *marks, int64_t before_ns, int64_t by_ns);

#endif
