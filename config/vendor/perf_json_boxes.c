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

static const char CORES[] = "cpu"; // a core's PMU among those that a metric needs

// The kernel's name of a PMU that a formula names, without any number; *one: it had one.
static const char *base_of(const struct perf_reader *reader, const char *pmu, size_t length, bool *one,
                           char out[PERF_PMU_MAX]) {
    char name[PERF_PMU_MAX];
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)pmu[length - 1 - digits]))
        digits++;
    *one = digits > 0 && digits + 1 < length && pmu[length - 1 - digits] == '_';
    length -= *one ? digits + 1 : 0;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), pmu);
    (void)snprintf(out, PERF_PMU_MAX, "%s%.*s", perf_is_named_as_it_is(reader, name) ? "" : "uncore_", PERF_PMU_MAX - 8,
                   name);
    return out;
}

static bool is_core(const struct perf_reader *reader, const char *pmu) {
    const cJSON *by_cpu = cJSON_GetObjectItemCaseSensitive(reader->root.value, "cpu_pmus");
    return strncmp(pmu, CORES, sizeof CORES - 1) == 0 || cJSON_HasObjectItem(by_cpu, pmu);
}

// Boxes of a package of one of the request's PMUs; 0: it is none of them. *at: which one it is.
static double boxes_of(const struct perf_reader *reader, const char *pmu, size_t *at) {
    const struct perf_json_boxes *boxes = reader->request->boxes;
    *at = 0;
    if (!boxes || strcmp(boxes->pmu, pmu) == 0)
        return boxes ? boxes->per_package : 0;
    for (size_t i = 0; i < boxes->n_beside; i++)
        if (strcmp(boxes->beside[i].pmu, pmu) == 0) {
            *at = i + 1;
            return boxes->beside[i].per_package;
        }
    return 0;
}

// Likewise for a PMU as a formula writes it, where a PMU may be named without "uncore_", which it begins with or not.
static double boxes_named(const struct perf_reader *reader, const char *pmu, size_t length, bool *one, size_t *at) {
    char base[PERF_PMU_MAX];
    double boxes = boxes_of(reader, base_of(reader, pmu, length, one, base), at);
    size_t skip = sizeof "uncore_" - 1;
    return boxes > 0 || strncmp(base, "uncore_", skip) != 0 ? boxes : boxes_of(reader, base + skip, at);
}

bool perf_boxes_are(const struct perf_reader *reader, const char *pmu, size_t length, bool *one) {
    size_t at;
    return boxes_named(reader, pmu, length, one, &at) > 0 && at == 0;
}

bool perf_boxes_have(const struct perf_reader *reader, const char *pmu) {
    size_t at;
    return boxes_of(reader, pmu, &at) > 0;
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

// The bit of a PMU; the last one is of all for which there is no other. The first is that of the cores' PMU.
static uint64_t bit_of(struct perf_reader *reader, const char *pmu) {
    struct perf_named_pmus *named = &reader->named;
    size_t i = 0;
    if (strcmp(pmu, CORES) == 0)
        return 1;
    while (i < named->n && strcmp(named->pmus[i], pmu) != 0)
        i++;
    if (i == PERF_BOXES_MAX - 2)
        return UINT64_C(1) << (PERF_BOXES_MAX - 1);
    if (i == named->n)
        (void)snprintf(named->pmus[named->n++], PERF_PMU_MAX, "%s", pmu);
    return UINT64_C(2) << i;
}

static const char *pmu_of_event(const struct perf_reader *reader, int item, char made[PERF_GROUP_NAME_MAX]) {
    struct perf_entry entry;
    perf_item_read(reader, &reader->items[item], &entry);
    const char *unit = entry.fields[PERF_UNIT];
    return perf_is_core_unit(reader, unit) ? CORES : perf_pmu_of_unit(reader, unit, made, PERF_GROUP_NAME_MAX);
}

static uint64_t needs_of(struct perf_reader *reader, const char *formula, unsigned depth);

static uint64_t needs_of_metric(struct perf_reader *reader, struct perf_item *item, unsigned depth) {
    if (!item->needs_known && item->formula && depth < NESTED_MAX) {
        item->needs_known = true; // also to one that leads back to itself
        item->needs = needs_of(reader, item->formula, depth);
    }
    return item->needs;
}

static uint64_t needs_of_name(struct perf_reader *reader, const char *name, size_t length, size_t head,
                              unsigned depth) {
    char made[PERF_GROUP_NAME_MAX], base[PERF_PMU_MAX];
    bool one;
    int item = name_index_find(&reader->events, name, head > 0 ? head : length, true);
    if (item >= 0)
        return bit_of(reader, pmu_of_event(reader, item, made));
    if (head > 0)
        return bit_of(reader, is_core(reader, base_of(reader, name, head, &one, base)) ? CORES : base);
    item = name_index_find(&reader->metrics, name, length, true);
    return item < 0 ? 0 : needs_of_metric(reader, &reader->items[item], depth + 1);
}

// A set of bits of bit_of.
static uint64_t needs_of(struct perf_reader *reader, const char *formula, unsigned depth) {
    uint64_t needs = 0;
    for (const char *at = formula; *at != '\0';) {
        size_t head, length = name_at(at, &head);
        if (length == strlen("has_event") && strncmp(at, "has_event", length) == 0) // asks for an event, counts none
            length = strcspn(at, ")");
        else if (length > 0)
            needs |= needs_of_name(reader, at, length, head, depth);
        at += length > 0 ? length : 1;
    }
    return needs;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

bool perf_boxes_needed(struct perf_reader *reader, const char *formula, struct perf_json_joined *out) {
    uint64_t needs = needs_of(reader, formula, 0);
    *out = (struct perf_json_joined){.n = 0};
    for (size_t i = 0; i < reader->named.n; i++) {
        if ((needs & UINT64_C(2) << i) == 0)
            continue;
        if (out->n == PERF_JOINED_PMUS_MAX - 1)
            return false;
        memcpy(out->pmus[out->n++], reader->named.pmus[i], PERF_PMU_MAX);
    }
    qsort(out->pmus, out->n, sizeof *out->pmus, compare_names);
    if (needs & 1)
        (void)snprintf(out->pmus[out->n++], PERF_PMU_MAX, "%s", CORES);
    return needs >> (PERF_BOXES_MAX - 1) == 0;
}

// True if these are all of the request's PMUs, and no others.
static bool are_all(const struct perf_reader *reader, const struct perf_json_joined *needed) {
    bool all = needed->n == 1 + reader->request->boxes->n_beside;
    for (size_t i = 0; all && i < needed->n; i++)
        all = perf_boxes_have(reader, needed->pmus[i]);
    return all;
}

void perf_boxes_list(struct perf_reader *reader) {
    struct perf_json_joined needed;
    for (size_t i = 0; i < reader->n; i++)
        if (reader->items[i].metric && reader->items[i].formula)
            reader->items[i].listed =
                perf_boxes_needed(reader, reader->items[i].formula, &needed) && are_all(reader, &needed);
}

void perf_json_joined_name(const struct perf_json_joined *joined, char out[PERF_JOINED_NAME_MAX]) {
    size_t skip = sizeof "uncore_" - 1, length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < joined->n && i < PERF_JOINED_PMUS_MAX; i++) {
        const char *pmu = joined->pmus[i];
        bool shorter = i > 0 && strncmp(pmu, "uncore_", skip) == 0;
        length += (size_t)snprintf(out + length, PERF_JOINED_NAME_MAX - length, "%s%s", i > 0 ? "_" : "",
                                   shorter ? pmu + skip : pmu);
    }
}

void perf_boxes_name(const struct perf_reader *reader, char out[PERF_JOINED_NAME_MAX]) {
    const struct perf_json_boxes *boxes = reader->request->boxes;
    struct perf_json_joined joined = {.n = 0};
    for (size_t i = 0; boxes && i < 1 + boxes->n_beside && i < PERF_JOINED_PMUS_MAX; i++)
        (void)snprintf(joined.pmus[joined.n++], PERF_PMU_MAX, "%s", i == 0 ? boxes->pmu : boxes->beside[i - 1].pmu);
    perf_json_joined_name(&joined, out);
}

// ---- what formulas say ----

// Packages of the scope, as boxes over those of a package.
static void put_packages(const struct perf_reader *reader, FILE *out) {
    const struct perf_json_boxes *boxes = reader->request->boxes;
    (void)fprintf(out, "(cpu_seconds / (%.17g * duration_time))", boxes->n_beside > 0 ? 1 : boxes->per_package);
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
    size_t at;
    double boxes = head > 0 ? boxes_named(reader, name, head, &one, &at) : 0;
    if (!(boxes > 0) || !one)
        return false;
    while (head > 0 && name[head - 1] != '_')
        head--;
    (void)fprintf(out, "(%.*s%s / %.17g)", (int)(head - 1), name, strchr(name, '@'), boxes);
    return true;
}

// The boxes of a package that have the event whose name begins at `at`.
static double boxes_with(const struct perf_reader *reader, const char *at) {
    char made[PERF_GROUP_NAME_MAX];
    size_t head, length = name_at(at, &head), place;
    int item = name_index_find(&reader->events, at, head > 0 ? head : length, true);
    double boxes = item >= 0 ? boxes_of(reader, pmu_of_event(reader, item, made), &place) : 0;
    return boxes > 0 ? boxes : reader->request->boxes->per_package;
}

// True if the files have the event, whose name may have spaces around it.
static bool has_event(const struct perf_reader *reader, const char *name, size_t length) {
    for (; length > 0 && *name == ' '; name++)
        length--;
    while (length > 0 && name[length - 1] == ' ')
        length--;
    return name_index_find(&reader->events, name, length, true) >= 0;
}

// Writes what stands for the name, literal or function at `at`; returns how long that is, 0: it is another character.
static size_t put_part(const struct perf_reader *reader, const char *at, FILE *out) {
    static const char sources[] = "source_count(", known[] = "has_event(";
    size_t head, length;
    if (*at == '#') {
        length = name_at(at + 1, &head);
        if (!put_literal(reader, at + 1, length, out))
            (void)fprintf(out, "%.*s", (int)length + 1, at);
        return length + 1;
    }
    if (strncmp(at, sources, sizeof sources - 1) == 0 && strchr(at, ')')) {
        (void)fprintf(out, "%.17g", boxes_with(reader, at + sizeof sources - 1));
        return (size_t)(strchr(at, ')') - at) + 1;
    }
    if (strncmp(at, known, sizeof known - 1) == 0 && strchr(at, ')')) {
        const char *name_of = at + sizeof known - 1, *end = strchr(at, ')');
        (void)fputs(has_event(reader, name_of, (size_t)(end - name_of)) ? "1" : "0", out);
        return (size_t)(end - at) + 1;
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
