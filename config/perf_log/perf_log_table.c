// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <string.h>

#include "config/perf_log/perf_log_private.h"

// A line of perf's table for people: time (with -I), place and its number of CPUs (with -A, --per-socket ...), count,
// unit, event; then '#' and a metric, the variation of repeated runs, and the share of time, in parentheses. Counts
// have the separators of thousands of the user's locale, and a count with a fraction has two decimals (old versions:
// six). Tables of cgroups are not read: a cgroup's name cannot be told from an event's.

enum { TOKENS_MAX = 6 };

struct tokens {
    char *text[TOKENS_MAX];
    size_t n;
};

// Cuts the line's last "( ... )" or "[ ... ]" with a per cent off. NULL: there is none.
static char *cut_share(char *line) {
    size_t length = strlen(line);
    while (length > 0 && line[length - 1] == ' ')
        line[--length] = '\0';
    if (length == 0 || (line[length - 1] != ')' && line[length - 1] != ']'))
        return NULL;
    char *open = strrchr(line, line[length - 1] == ')' ? '(' : '[');
    char *per_cent = open ? strchr(open, '%') : NULL;
    if (!per_cent)
        return NULL;
    *per_cent = '\0';
    *open = '\0';
    return open + 1 + strspn(open + 1, " ");
}

// Cuts what follows the event, and finds the share.
static void cut_end(char *line, struct perf_log_line *out) {
    double value;
    out->share_of_all = true; // perf prints the share where it is not all (print_running in tools/perf)
    for (char *share; (share = cut_share(line)) != NULL;)
        if (perf_log_number(share, 1, &value))
            out->share = share;
    line[strcspn(line, "#")] = '\0';
}

// False if there are more tokens than a line with a count has.
static bool split(char *line, struct tokens *tokens) {
    for (char *c = line + strspn(line, " \t"); *c != '\0'; c += strspn(c, " \t")) {
        if (tokens->n == TOKENS_MAX)
            return false;
        tokens->text[tokens->n++] = c;
        c += *c == '<' ? strcspn(c, ">") : 0; // "<not counted>"
        c += strcspn(c, " \t");
        if (*c != '\0')
            *c++ = '\0';
    }
    return true;
}

// A comma, a point, an apostrophe, or a byte of a space that breaks no line.
static bool separates(char c) { return c == ',' || c == '.' || c == '\'' || (unsigned char)c >= 0x80; }

static bool is_count(const char *text) {
    if (strcmp(text, "<not counted>") == 0 || strcmp(text, "<not supported>") == 0)
        return true;
    const char *c = text;
    while (isdigit((unsigned char)*c) || separates(*c))
        c++;
    return isdigit((unsigned char)text[0]) && *c == '\0';
}

// "16.167,76" to "16167.76": the last separator is a decimal point unless three digits follow it.
static void make_plain(char *text) {
    size_t length = strlen(text), last = length;
    if (text[0] == '<')
        return;
    for (size_t i = 0; i < length; i++)
        last = separates(text[i]) ? i : last;
    bool decimals = last < length && length - last - 1 != 3 && (text[last] == ',' || text[last] == '.');
    char *out = text;
    for (size_t i = 0; i < length; i++) {
        if (!separates(text[i]))
            *out++ = text[i];
        else if (i == last && decimals)
            *out++ = '.';
    }
    *out = '\0';
}

static bool is_unit(const char *text) {
    static const char *const units[] = {"msec", "ns", "Joules", "Bytes", "KiB", "MiB", "GiB", "MB"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(text, units[i]) == 0)
            return true;
    return false;
}

// Finds event and unit among the tokens after the count: "msec task-clock", or "task-clock (msec)" in old versions.
static bool take_event(const struct tokens *tokens, size_t at, struct perf_log_line *out) {
    const char *one = at < tokens->n ? tokens->text[at] : "", *two = at + 1 < tokens->n ? tokens->text[at + 1] : NULL;
    if (*one == '\0' || at + 2 < tokens->n || (two && !is_unit(one) && strcmp(two, "(msec)") != 0))
        return false;
    bool first = two && is_unit(one);
    out->event = first ? two : one;
    out->unit = first ? one : two ? "msec" : "";
    return true;
}

bool perf_log_read_table(char *line, bool timed, struct perf_log_line *out) {
    struct tokens tokens = {.n = 0};
    cut_end(line, out);
    if (!split(line, &tokens))
        return false;
    size_t at = 0;
    if (timed && (tokens.n == 0 || !strchr(tokens.text[0], '.') || !perf_log_time(tokens.text[at++], &out->end_ns)))
        return false;
    bool placed = at < tokens.n && !is_count(tokens.text[at]);
    out->place = placed ? tokens.text[at++] : "";
    if (placed && at + 1 < tokens.n && is_count(tokens.text[at]) && is_count(tokens.text[at + 1])) {
        double cpus;
        out->cpus = perf_log_number(tokens.text[at], 1, &cpus) && cpus < PERF_LOG_PLACES_MAX ? (unsigned)cpus : 0;
        at++;
    }
    if (at >= tokens.n || !is_count(tokens.text[at]))
        return false;
    make_plain(tokens.text[at]);
    out->count = tokens.text[at];
    return take_event(&tokens, at + 1, out);
}

bool perf_log_read_elapsed(const char *line, uint64_t *ns) {
    char text[32];
    double seconds;
    const char *from = line + strspn(line, " \t");
    size_t length = strcspn(from, " \t");
    if (!strstr(line, "seconds time elapsed") || length >= sizeof text)
        return false;
    memcpy(text, from, length);
    text[length] = '\0';
    if (!perf_log_number(text, 1, &seconds) || !(seconds > 0 && seconds < PERF_LOG_SECONDS_MAX))
        return false;
    *ns = (uint64_t)(seconds * 1e9 + 0.5);
    return true;
}
