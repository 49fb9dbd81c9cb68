// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/vendor/perf_json_private.h"

// What formulas mean for PMUs outside the cores. perf reads a formula for a whole host; here it has to hold for a
// socket as well, so what is a number of the host becomes one of the scope (struct perf_json_boxes).

enum { NESTED_MAX = 16, PART_MAX = 600 };

bool perf_boxes_are(const struct perf_reader *reader, const char *pmu, size_t length, bool *one) {
    static const char prefix[] = "uncore_";
    if (!reader->request->boxes)
        return false;
    size_t digits = 0, skip = sizeof prefix - 1;
    while (digits < length && isdigit((unsigned char)pmu[length - 1 - digits]))
        digits++;
    *one = digits > 0 && digits + 1 < length && pmu[length - 1 - digits] == '_';
    length -= *one ? digits + 1 : 0;
    const char *ours = reader->pmu;
    if (strlen(ours) == length && strncmp(ours, pmu, length) == 0)
        return true;
    return strncmp(ours, prefix, skip) == 0 && strlen(ours + skip) == length && strncmp(ours + skip, pmu, length) == 0;
}

// The length of the name at `at`, as formulas write names: NAME, NAME@terms@, pmu@terms@, with escaped characters; 0:
// there is none.
static size_t name_at(const char *at, size_t *head) {
    size_t n = 0;
    *head = 0;
    while (isalnum((unsigned char)at[n]) || (at[n] != '\0' && strchr("_.:?", at[n])) || (at[n] == '\\' && at[n + 1]))
        n += at[n] == '\\' ? 2 : 1;
    const char *close = n > 0 && at[n] == '@' ? strchr(at + n + 1, '@') : NULL;
    if (!close)
        return n;
    *head = n;
    n = (size_t)(close - at) + 1;
    while (at[n] != '\0' && isalpha((unsigned char)at[n]))
        n++;
    return n;
}

// ---- which metrics ----

static bool needs(const struct perf_reader *reader, const char *formula, unsigned depth);

// True if a name of a formula is an event of the boxes, or a metric that needs one.
static bool name_needs(const struct perf_reader *reader, const char *name, size_t length, size_t head, unsigned depth) {
    struct perf_entry entry;
    bool one;
    if (head > 0 && perf_boxes_are(reader, name, head, &one))
        return true;
    int item = name_index_find(&reader->events, name, head > 0 ? head : length, true);
    if (item >= 0) {
        perf_item_read(reader, &reader->items[item], &entry);
        return perf_is_core(reader, entry.fields[PERF_UNIT]);
    }
    item = head > 0 ? -1 : name_index_find(&reader->metrics, name, length, true);
    return item >= 0 && reader->items[item].formula && depth < NESTED_MAX &&
           needs(reader, reader->items[item].formula, depth + 1);
}

static bool needs(const struct perf_reader *reader, const char *formula, unsigned depth) {
    for (const char *at = formula; *at != '\0';) {
        size_t head, length = name_at(at, &head);
        if (length > 0 && name_needs(reader, at, length, head, depth))
            return true;
        at += length > 0 ? length : 1;
    }
    return false;
}

void perf_boxes_list(struct perf_reader *reader) {
    for (size_t i = 0; i < reader->n; i++)
        if (reader->items[i].metric && reader->items[i].formula)
            reader->items[i].listed = needs(reader, reader->items[i].formula, 0);
}

// ---- what formulas say ----

// Packages of the scope, as boxes over those of a package.
static void put_packages(const struct perf_reader *reader, FILE *out) {
    (void)fprintf(out, "(cpu_seconds / (%.17g * duration_time))", reader->request->boxes->per_package);
}

// A literal that grows with the packages. Returns false for any other.
static bool put_literal(const struct perf_reader *reader, const char *name, size_t length, FILE *out) {
    const double *literals = reader->environment.facts.literals;
    int literal = environment_find_literal(name, length);
    if (literal == LITERAL_NUM_PACKAGES) {
        put_packages(reader, out);
        return true;
    }
    if (literal != LITERAL_NUM_CORES && literal != LITERAL_NUM_DIES && literal != LITERAL_NUM_CPUS_ONLINE &&
        literal != LITERAL_NUM_CPUS)
        return false;
    double of_package = literals[literal] / literals[LITERAL_NUM_PACKAGES];
    if (isfinite(of_package))
        (void)fprintf(out, "(%.17g * ", of_package);
    else
        (void)fputs("(NaN * ", out);
    put_packages(reader, out);
    (void)fputc(')', out);
    return true;
}

// An event of one box. Returns false for any other name.
static bool put_one(const struct perf_reader *reader, const char *name, size_t head, FILE *out) {
    bool one;
    if (head == 0 || !perf_boxes_are(reader, name, head, &one) || !one)
        return false;
    while (head > 0 && name[head - 1] != '_')
        head--;
    (void)fprintf(out, "(%.*s%s / %.17g)", (int)(head - 1), name, strchr(name, '@'),
                  reader->request->boxes->per_package);
    return true;
}

// Writes what stands for the name, literal or function at `at`; returns how long that is, 0: it is another character.
static size_t put_part(const struct perf_reader *reader, const char *at, FILE *out) {
    static const char sources[] = "source_count(";
    size_t head, length;
    if (*at == '#') {
        length = name_at(at + 1, &head);
        if (!put_literal(reader, at + 1, length, out))
            (void)fprintf(out, "%.*s", (int)length + 1, at);
        return length + 1;
    }
    if (strncmp(at, sources, sizeof sources - 1) == 0 && strchr(at, ')')) {
        (void)fprintf(out, "%.17g", reader->request->boxes->per_package);
        return (size_t)(strchr(at, ')') - at) + 1;
    }
    length = name_at(at, &head);
    char name[PART_MAX];
    (void)snprintf(name, sizeof name, "%.*s", (int)length, at);
    if (length > 0 && (length >= sizeof name || !put_one(reader, name, head, out)))
        (void)fprintf(out, "%.*s", (int)length, at);
    return length;
}

char *perf_boxes_formula(const struct perf_reader *reader, const char *formula) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *at = formula; *at != '\0';) {
        size_t length = put_part(reader, at, out);
        if (length == 0)
            (void)fputc(*at++, out);
        at += length;
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
