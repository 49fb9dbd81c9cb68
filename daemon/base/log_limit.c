// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/log_limit.h"

#include <ctype.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// FNV-1a. A number that stands alone, such as 3, 12.5 or 1e-3, is hashed as one character.
static uint64_t hash_kind(const char *text, size_t length) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++) {
        bool alone = is_digit(text[i]) && (i == 0 || (!isalnum((unsigned char)text[i - 1]) && text[i - 1] != '_'));
        unsigned char c = alone ? '#' : (unsigned char)text[i];
        while (alone && i + 1 < length && (is_digit(text[i + 1]) || (text[i + 1] == '.' && is_digit(text[i]))))
            i++;
        hash = (hash ^ c) * UINT64_C(1099511628211);
    }
    return hash;
}

static bool is_over(const struct log_kind *kind, uint64_t now_ns) {
    return now_ns - kind->begun_ns >= LOG_LIMIT_PERIOD_NS;
}

// The kind's place, or a free one; NULL: all are in use.
static struct log_kind *find(struct log_limit *limit, uint64_t now_ns, uint64_t hash) {
    struct log_kind *free = NULL;
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        struct log_kind *kind = &limit->kinds[i];
        if (kind->passed > 0 && kind->hash == hash)
            return kind;
        if (kind->passed == 0 || (kind->held == 0 && is_over(kind, now_ns)))
            free = kind;
    }
    if (free)
        free->passed = 0;
    return free;
}

bool log_limit_pass(struct log_limit *limit, uint64_t now_ns, const char *text, size_t length) {
    uint64_t hash = hash_kind(text, length);
    struct log_kind *kind = find(limit, now_ns, hash);
    if (!kind)
        return true;
    if (kind->passed == 0 || (kind->held == 0 && is_over(kind, now_ns))) {
        size_t n = length < LOG_LIMIT_TEXT_MAX ? length : LOG_LIMIT_TEXT_MAX - 1;
        *kind = (struct log_kind){.hash = hash, .begun_ns = now_ns};
        memcpy(kind->text, text, n);
    }
    bool pass = kind->passed < LOG_LIMIT_BURST;
    kind->passed += pass;
    kind->held += !pass;
    return pass;
}

unsigned log_limit_take(struct log_limit *limit, uint64_t now_ns, bool all, char out[LOG_LIMIT_TEXT_MAX]) {
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        struct log_kind *kind = &limit->kinds[i];
        if (kind->held == 0 || (!all && !is_over(kind, now_ns)))
            continue;
        unsigned held = kind->held;
        memcpy(out, kind->text, LOG_LIMIT_TEXT_MAX);
        kind->held = kind->passed = 0;
        return held;
    }
    return 0;
}

uint64_t log_limit_due_ns(const struct log_limit *limit) {
    uint64_t due_ns = UINT64_MAX;
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++)
        if (limit->kinds[i].held > 0 && limit->kinds[i].begun_ns + LOG_LIMIT_PERIOD_NS < due_ns)
            due_ns = limit->kinds[i].begun_ns + LOG_LIMIT_PERIOD_NS;
    return due_ns;
}
