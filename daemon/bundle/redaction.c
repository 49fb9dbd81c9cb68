// SPDX-License-Identifier: Apache-2.0
#include "daemon/bundle/redaction.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool make_room(struct redaction *redaction) {
    if (redaction->n < redaction->capacity)
        return true;
    size_t capacity = redaction->capacity ? 2 * redaction->capacity : 64;
    struct redaction_word *words = reallocarray(redaction->words, capacity, sizeof *words);
    if (!words)
        return false;
    redaction->words = words;
    redaction->capacity = capacity;
    return true;
}

void redaction_add(struct redaction *redaction, const char *from, const char *to) {
    if (!from || strlen(from) < 2)
        return;
    for (size_t i = 0; i < redaction->n; i++)
        if (strcmp(redaction->words[i].from, from) == 0)
            return;
    char *copy = make_room(redaction) ? strdup(from) : NULL;
    if (!copy) {
        redaction->failed = true;
        return;
    }
    size_t at = 0;
    while (at < redaction->n && strlen(redaction->words[at].from) >= strlen(from))
        at++;
    memmove(&redaction->words[at + 1], &redaction->words[at], (redaction->n - at) * sizeof redaction->words[0]);
    redaction->words[at] = (struct redaction_word){.from = copy, .to = to};
    redaction->n++;
}

void redaction_deinit(struct redaction *redaction) {
    for (size_t i = 0; i < redaction->n; i++)
        free(redaction->words[i].from);
    free(redaction->words);
    *redaction = (struct redaction){0};
}

// A piece of the text that is to be taken out; its length is 0 if there is none.
struct found {
    size_t length;
    const char *to;
};

// Host names are the same in capitals.
static struct found find_word(const struct redaction *redaction, const char *text, size_t length, bool begins) {
    for (size_t i = 0; i < redaction->n; i++) {
        const struct redaction_word *word = &redaction->words[i];
        size_t n = strlen(word->from);
        bool free_before = begins || !in_word(word->from[0]);
        if (free_before && n <= length && strncasecmp(text, word->from, n) == 0 &&
            (n == length || !in_word(text[n]) || !in_word(word->from[n - 1])))
            return (struct found){n, word->to};
    }
    return (struct found){0};
}

static size_t span(const char *text, size_t length, const char *accepted) {
    size_t n = 0;
    while (n < length && text[n] != '\0' && strchr(accepted, text[n]))
        n++;
    return n;
}

static struct found find_home(const char *text, size_t length) {
    static const char home[] = "/home/";
    size_t n = sizeof home - 1;
    if (length <= n || memcmp(text, home, n) != 0)
        return (struct found){0};
    while (n < length && (in_word(text[n]) || text[n] == '.' || text[n] == '-'))
        n++;
    return (struct found){n, "/home/USER"};
}

// $2y$10$... and its kind
static struct found find_hash(const char *text, size_t length) {
    size_t kind = length > 3 && text[0] == '$' ? span(text + 1, length - 1, "0123456789abxy") : 0;
    if (kind == 0 || kind > 2 || text[1 + kind] != '$')
        return (struct found){0};
    size_t n = 2 + kind;
    while (n < length && (isalnum((unsigned char)text[n]) || strchr("$./=,+-", text[n])))
        n++;
    return n > 16 ? (struct found){n, "HASH"} : (struct found){0};
}

// Four numbers below 256 and dots between them; 0.0.0.0 and the loopback stay.
static struct found find_ipv4(const char *text, size_t length) {
    unsigned numbers[4];
    int n = 0;
    char copy[20];
    if (length == 0 || !isdigit((unsigned char)text[0])) // sscanf would skip spaces, and take a sign
        return (struct found){0};
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(length < sizeof copy ? length : sizeof copy - 1), text);
    if (sscanf(copy, "%3u.%3u.%3u.%3u%n", &numbers[0], &numbers[1], &numbers[2], &numbers[3], &n) != 4 || n == 0)
        return (struct found){0};
    bool is = numbers[0] < 256 && numbers[1] < 256 && numbers[2] < 256 && numbers[3] < 256;
    bool ends = !in_word(copy[n]) && !(copy[n] == '.' && isdigit((unsigned char)copy[n + 1]));
    bool harmless = numbers[0] == 127 || (numbers[0] | numbers[1] | numbers[2] | numbers[3]) == 0;
    return is && ends && !harmless ? (struct found){(size_t)n, "ADDRESS"} : (struct found){0};
}

// An IPv6 address has "::" or seven colons, a card's address five; a time of day has two. A colon behind one is the
// sentence's, and an IPv4 address at the end of one is part of it.
static struct found find_colons(const char *text, size_t length) {
    size_t n = span(text, length, "0123456789abcdefABCDEF:"), colons = 0, digits = 0, last = n;
    bool twice = false;
    if (n > 2 && text[n - 1] == ':' && text[n - 2] != ':')
        n--;
    while (last > 0 && text[last - 1] != ':')
        last--;
    struct found mapped = n < length && text[n] == '.' ? find_ipv4(text + last, length - last) : (struct found){0};
    for (size_t i = 0; i < n; i++) {
        colons += text[i] == ':';
        digits += text[i] != ':';
        twice = twice || (i > 0 && text[i] == ':' && text[i - 1] == ':');
    }
    bool card = colons == 5 && digits == 12, address = (twice && colons <= 7) || colons == 7;
    bool loopback = digits == 0 || (n == 3 && memcmp(text, "::1", 3) == 0);
    if (!(card || address) || loopback || (n < length && in_word(text[n])))
        return (struct found){0};
    return (struct found){mapped.length > 0 ? last + mapped.length : n, "ADDRESS"};
}

// before: the character before the text; a space where there is none.
static struct found find(const struct redaction *redaction, const char *text, size_t length, char before) {
    bool begins = !in_word(before);
    struct found found = find_word(redaction, text, length, begins);
    if (found.length == 0)
        found = find_home(text, length);
    if (found.length == 0)
        found = find_hash(text, length);
    if (found.length == 0 && begins && before != '.') // a version may have five numbers
        found = find_ipv4(text, length);
    if (found.length == 0 && begins)
        found = find_colons(text, length);
    return found;
}

void redaction_text(const struct redaction *redaction, const char *text, size_t length, struct text *out) {
    size_t kept = 0, at = 0;
    while (at < length) {
        struct found found = find(redaction, text + at, length - at, at > 0 ? text[at - 1] : ' ');
        if (found.length == 0) {
            at++;
            continue;
        }
        text_append(out, text + kept, at - kept);
        text_string(out, found.to);
        kept = at += found.length;
    }
    text_append(out, text + kept, length - kept);
}
