// SPDX-License-Identifier: Apache-2.0
#include "core/history/marks.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base/utf8.h"

const char *mark_kind_name(enum mark_kind kind) {
    static const char *const names[MARK_KINDS] = {"start", "reload", "plan",  "adapt",   "yield", "resume",
                                                  "cpus",  "gap",    "clock", "verdict", "user"};
    return names[kind];
}

// The oldest of the kind goes where there are so many.
static void drop_oldest(struct marks *marks, enum mark_kind kind, size_t max) {
    struct marks rest = {.n = 0};
    size_t n = 0;
    for (size_t i = 0; i < marks_count(marks); i++)
        n += marks_get(marks, i)->kind == kind;
    if (n < max)
        return;
    for (size_t i = 0; i < marks_count(marks); i++)
        if (marks_get(marks, i)->kind != kind || n-- < max)
            rest.ring[rest.n++] = *marks_get(marks, i);
    *marks = rest;
}

void marks_add(struct marks *marks, int64_t at_ns, enum mark_kind kind, const char *text) {
    if (kind == MARK_USER)
        drop_oldest(marks, MARK_USER, MARKS_USER_MAX);
    struct mark *mark = &marks->ring[marks->n++ % MARKS_MAX];
    mark->at_ns = at_ns;
    mark->kind = kind;
    (void)snprintf(mark->text, sizeof mark->text, "%s", text);
}

size_t marks_count(const struct marks *marks) { return marks->n < MARKS_MAX ? marks->n : MARKS_MAX; }

const struct mark *marks_get(const struct marks *marks, size_t i) {
    return &marks->ring[(marks->n - marks_count(marks) + i) % MARKS_MAX];
}

void marks_move(struct marks *marks, int64_t before_ns, int64_t by_ns) {
    for (size_t i = 0; i < marks_count(marks); i++)
        if (marks->ring[i].at_ns < before_ns)
            marks->ring[i].at_ns += by_ns;
}

// ---- what somebody wants to say ----

// The code point of a well-formed character.
static unsigned long code_of(const char *text, size_t length) {
    unsigned long code = (unsigned char)text[0];
    if (length > 1)
        code &= 0x7fUL >> length;
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3fU);
    return code;
}

// What changes the direction of writing can make a text say something else than it does (Unicode TR 36).
static bool is_plain(unsigned long code) {
    bool control = code < 0x20 || (code >= 0x7f && code < 0xa0), line = code == 0x2028 || code == 0x2029;
    bool turns = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                 (code >= 0x2066 && code <= 0x2069);
    return !control && !line && !turns;
}

const char *marks_refuse_text(const char *text) {
    if (text[strspn(text, " ")] == '\0')
        return "a mark needs a text, such as 'deploy db 4.2'";
    if (strlen(text) >= MARK_TEXT_MAX)
        return "the text of a mark has at most 119 bytes";
    for (size_t length; *text != '\0'; text += length) {
        length = utf8_length(text, SIZE_MAX);
        if (length == 0)
            return "the text of a mark is UTF-8, and this is none";
        if (!is_plain(code_of(text, length)))
            return "the text of a mark is one line without control characters";
    }
    return NULL;
}
