// SPDX-License-Identifier: Apache-2.0
#include "core/base/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>

void cpuset_add(struct cpuset *set, unsigned cpu) {
    if (cpu < CPUSET_MAX)
        set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool cpuset_has(const struct cpuset *set, unsigned cpu) {
    return cpu < CPUSET_MAX && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

size_t cpuset_count(const struct cpuset *set) {
    size_t count = 0;
    for (size_t i = 0; i < CPUSET_MAX / 64; i++)
        if (set->words[i] != 0)
            count += (size_t)__builtin_popcountll(set->words[i]);
    return count;
}

// The first CPU from `cpu` on that the set has, or (has: false) does not have.
static unsigned find(const struct cpuset *set, unsigned cpu, bool has) {
    for (; cpu < CPUSET_MAX; cpu = (cpu / 64 + 1) * 64) {
        uint64_t word = (has ? set->words[cpu / 64] : ~set->words[cpu / 64]) >> (cpu % 64);
        if (word != 0)
            return cpu + (unsigned)__builtin_ctzll(word);
    }
    return CPUSET_MAX;
}

unsigned cpuset_next(const struct cpuset *set, unsigned cpu) { return find(set, cpu, true); }

bool cpuset_is_empty(const struct cpuset *set) { return cpuset_next(set, 0) == CPUSET_MAX; }

static int parse_number(const char **cursor, unsigned *out) {
    unsigned value = 0;
    if (!isdigit((unsigned char)**cursor))
        return -EINVAL;
    for (; isdigit((unsigned char)**cursor); (*cursor)++) {
        value = value * 10 + (unsigned)(**cursor - '0');
        if (value >= CPUSET_MAX)
            return -ERANGE;
    }
    *out = value;
    return 0;
}

int cpuset_parse(const char *text, struct cpuset *out) {
    struct cpuset set = {0};
    const char *cursor = text;
    while (*cursor != '\0' && *cursor != '\n') {
        unsigned first, last;
        int r = parse_number(&cursor, &first);
        if (r < 0)
            return r;
        last = first;
        if (*cursor == '-') {
            cursor++;
            r = parse_number(&cursor, &last);
            if (r < 0)
                return r;
        }
        if (last < first)
            return -EINVAL;
        for (unsigned cpu = first; cpu <= last; cpu++)
            cpuset_add(&set, cpu);
        if (*cursor == ',' && isdigit((unsigned char)cursor[1]))
            cursor++;
        else if (*cursor != '\0' && *cursor != '\n')
            return -EINVAL;
    }
    if (*cursor == '\n' && cursor[1] != '\0')
        return -EINVAL;
    *out = set;
    return 0;
}

void cpuset_format(const struct cpuset *set, char *list, size_t size) {
    enum { RANGE_MAX = 32, DOTS = 4 };
    size_t length = 0;
    bool full = false;
    list[0] = '\0';
    for (unsigned first = find(set, 0, true), end; first < CPUSET_MAX && !full; first = find(set, end, true)) {
        char text[RANGE_MAX];
        end = find(set, first, false);
        const char *comma = length > 0 ? "," : "";
        int needed = end - first == 1 ? snprintf(text, sizeof text, "%s%u", comma, first)
                                      : snprintf(text, sizeof text, "%s%u-%u", comma, first, end - 1);
        full = length + (size_t)needed + DOTS > size;
        length += (size_t)snprintf(list + length, size - length, "%s", full ? "..." : text);
    }
}
