// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_FINDINGS_H
#define TOPDOWND_DAEMON_BASE_FINDINGS_H

// What `topdownd doctor` has found: one line for each thing that it looked at.

#include <stdbool.h>
#include <stddef.h>

#include "exporters/text/text.h"

enum { FINDINGS_MAX = 96, FINDING_TEXT_MAX = 512 };

enum finding_state {
    FINDING_OK,
    FINDING_NOT_CHECKED, // it could not be looked at
    FINDING_WARNING,     // topdownd works, with less
    FINDING_FAILURE,     // topdownd cannot do here what it is for
    FINDING_STATES
};

struct findings {
    struct finding {
        enum finding_state state;
        const char *check; // one word, the same in every version
        char text[FINDING_TEXT_MAX];
        char remedy[FINDING_TEXT_MAX]; // "": nothing to do
    } items[FINDINGS_MAX];
    size_t n;
};

// Adds a finding; `check` is borrowed, texts are cut. One without room is dropped.
__attribute__((format(printf, 4, 5))) void findings_add(struct findings *findings, enum finding_state state,
                                                        const char *check, const char *format, ...);
// What to do about the finding that was added last.
__attribute__((format(printf, 2, 3))) void findings_remedy(struct findings *findings, const char *format, ...);

size_t findings_count(const struct findings *findings, enum finding_state state);

// Append them for people, or as a JSON object. Return 0 or -ENOMEM.
int findings_print(const struct findings *findings, struct text *out);
int findings_print_json(const struct findings *findings, struct text *out);

#endif
