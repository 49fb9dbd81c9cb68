// SPDX-License-Identifier: Apache-2.0
#include "core/history/marks.h"

#include <stdio.h>

const char *mark_kind_name(enum mark_kind kind) {
    static const char *const names[MARK_KINDS] = {"start",  "reload", "plan", "adapt", "yield",
                                                  "resume", "cpus",   "gap",  "clock", "verdict"};
    return names[kind];
}

void marks_add(struct marks *marks, int64_t at_ns, enum mark_kind kind, const char *text) {
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
