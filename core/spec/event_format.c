// SPDX-License-Identifier: Apache-2.0
#include "core/spec/event_format.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const WORDS[EVENT_FORMAT_WORDS] = {"config", "config1", "config2"};

// Terms that perf accepts for every PMU and that do not change the count: they name the event, select PMUs, or control
// sampling and recording. A PMU's own field of such a name takes precedence.
static const char *const IGNORED[] = {"name",        "metric-id", // its name in output
                                      "cpu",         "percore",   // where it is counted and summed
                                      "period",      "freq",
                                      "time",        "call-graph",
                                      "stack-size", // sampling
                                      "max-stack",   "max-events",
                                      "branch_type", "driver-config",
                                      "aux-output", // recording
                                      "aux-action",  "aux-sample-size",
                                      "inherit",     "no-inherit",
                                      "overwrite",   "no-overwrite"};

struct event_format {
    size_t n;
    struct event_format_field fields[EVENT_FORMAT_FIELDS_MAX];
};

// One term of a text: names and values are not terminated.
struct term {
    const char *name, *value; // value NULL: a bare term
    size_t name_length, value_length;
};

// The result of encoding so far.
struct encoding {
    uint64_t whole[EVENT_FORMAT_WORDS]; // config=, config1=, config2=
    uint64_t fields[EVENT_FORMAT_WORDS];
    const struct event_format_field *used[EVENT_FORMAT_TERMS_MAX]; // fields with a value other than 0
    size_t n_used;
    struct term seen[EVENT_FORMAT_TERMS_MAX];
    size_t n_seen;
};

int event_format_new(struct event_format **out) {
    struct event_format *format = calloc(1, sizeof *format);
    if (!format)
        return -ENOMEM;
    *out = format;
    return 0;
}

struct event_format *event_format_free(struct event_format *format) {
    free(format);
    return NULL;
}

size_t event_format_count(const struct event_format *format) { return format->n; }

const struct event_format_field *event_format_at(const struct event_format *format, size_t i) {
    return &format->fields[i];
}

static const struct event_format_field *find(const struct event_format *format, const char *name, size_t length) {
    for (size_t i = 0; i < format->n; i++)
        if (strlen(format->fields[i].name) == length && memcmp(format->fields[i].name, name, length) == 0)
            return &format->fields[i];
    return NULL;
}

const struct event_format_field *event_format_find(const struct event_format *format, const char *name) {
    return find(format, name, strlen(name));
}

// ---- fields ----

static bool is_name(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return length > 0 && length < EVENT_FORMAT_NAME_MAX;
}

// Reads a bit number and moves past it; false if there is none below 64.
static bool read_bit(const char **text, unsigned *out) {
    unsigned bit = 0;
    const char *from = *text;
    for (; isdigit((unsigned char)**text) && *text - from < 2; (*text)++)
        bit = bit * 10 + (unsigned)(**text - '0');
    *out = bit;
    return *text > from && bit < 64;
}

// Reads "0-7,32-35" up to the end or white space. Returns 0 if it is invalid or repeats a bit.
static uint64_t read_bits(const char *text) {
    uint64_t bits = 0;
    for (;; text++) {
        unsigned first, last;
        if (!read_bit(&text, &first))
            return 0;
        last = first;
        if (*text == '-' && (text++, !read_bit(&text, &last) || last < first))
            return 0;
        uint64_t range = (last - first == 63 ? ~UINT64_C(0) : (UINT64_C(1) << (last - first + 1)) - 1) << first;
        if ((bits & range) != 0)
            return 0;
        bits |= range;
        if (*text != ',')
            break;
    }
    return text[strspn(text, " \t\r\n")] == '\0' ? bits : 0;
}

int event_format_add(struct event_format *format, const char *name, const char *text, struct fault *fault) {
    struct event_format_field field = {0};
    if (!is_name(name))
        return fault_set(fault, "\"%.40s\" is not the name of a term: letters, digits, '_', '-' and '.', at most %d",
                         name, EVENT_FORMAT_NAME_MAX - 1);
    if (event_format_find(format, name))
        return fault_set(fault, "the term %s is there twice", name);
    for (unsigned w = 0; w < EVENT_FORMAT_WORDS; w++)
        if (strcmp(name, WORDS[w]) == 0)
            return fault_set(fault, "%s is the whole number and no term of a format", name);
    if (format->n == EVENT_FORMAT_FIELDS_MAX)
        return fault_set(fault, "more than %d terms", EVENT_FORMAT_FIELDS_MAX);
    const char *colon = strchr(text, ':');
    while (field.word < EVENT_FORMAT_WORDS && (!colon || strlen(WORDS[field.word]) != (size_t)(colon - text) ||
                                               memcmp(WORDS[field.word], text, (size_t)(colon - text)) != 0))
        field.word++;
    field.bits = field.word < EVENT_FORMAT_WORDS ? read_bits(colon + 1) : 0;
    if (field.bits == 0)
        return fault_set(fault,
                         "\"%.80s\" does not say which bits %s fills: as in config:0-7,32-35 or config1:18, no bit "
                         "twice, in config, config1 or config2",
                         text, name);
    (void)snprintf(field.name, sizeof field.name, "%s", name);
    format->fields[format->n++] = field;
    return 0;
}

// ---- terms ----

// Takes the next term and moves *text past it.
static void next_term(const char **text, struct term *out) {
    const char *from = *text + strspn(*text, " \t\r\n");
    size_t length = strcspn(from, ",");
    *text = from + length;
    while (length > 0 && isspace((unsigned char)from[length - 1]))
        length--;
    const char *equals = memchr(from, '=', length);
    *out = (struct term){.name = from, .name_length = length};
    if (equals) {
        out->name_length = (size_t)(equals - from);
        out->value = equals + 1;
        out->value_length = length - out->name_length - 1;
    }
}

// The length of a text that an error shows.
static int shown(size_t length) { return length < 40 ? (int)length : 40; }

static int read_value(const struct term *term, uint64_t *out, struct fault *fault) {
    *out = 1;
    if (!term->value)
        return 0;
    char digits[24];
    bool hex = term->value_length > 2 && term->value[0] == '0' && (term->value[1] == 'x' || term->value[1] == 'X');
    size_t skip = hex ? 2 : 0, length = term->value_length - skip;
    bool fits = length > 0 && length < sizeof digits;
    memcpy(digits, term->value + skip, fits ? length : 0);
    digits[fits ? length : 0] = '\0';
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, hex ? 16 : 10);
    if (!fits || strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789") != length || errno != 0)
        return fault_set(fault, "%.*s=%.*s is not a number of at most 64 bits, decimal or 0x...",
                         shown(term->name_length), term->name, shown(term->value_length), term->value);
    *out = value;
    return 0;
}

// Moves the value's bits to the places of the field, low bits first.
static uint64_t deposit(uint64_t value, uint64_t bits) {
    uint64_t out = 0;
    for (; bits != 0 && value != 0; bits &= bits - 1, value >>= 1)
        out |= (value & 1) != 0 ? bits & (~bits + 1) : 0;
    return out;
}

static int encode_field(struct encoding *e, const struct event_format_field *field, uint64_t value,
                        struct fault *fault) {
    int width = __builtin_popcountll(field->bits);
    if (width < 64 && value >> width != 0)
        return fault_set(fault, "%s=0x%llx is more than its %d bits hold: at most 0x%llx", field->name,
                         (unsigned long long)value, width, (1ULL << width) - 1);
    for (size_t i = 0; i < e->n_used && value != 0; i++)
        if (e->used[i]->word == field->word && (e->used[i]->bits & field->bits) != 0)
            return fault_set(fault, "%s and %s fill the same bits: an event has one of them", e->used[i]->name,
                             field->name);
    if (value != 0)
        e->used[e->n_used++] = field;
    e->fields[field->word] |= deposit(value, field->bits);
    return 0;
}

static bool term_is(const struct term *term, const char *name) {
    return strlen(name) == term->name_length && memcmp(name, term->name, term->name_length) == 0;
}

static bool is_ignored(const struct term *term) {
    for (size_t i = 0; i < sizeof IGNORED / sizeof *IGNORED; i++)
        if (term_is(term, IGNORED[i]))
            return true;
    return false;
}

static int refuse_unknown(const struct event_format *format, const struct term *term, struct fault *fault) {
    size_t length = (size_t)snprintf(fault->text, sizeof fault->text, "the PMU has no term \"%.*s\"; it has",
                                     shown(term->name_length), term->name);
    for (size_t i = 0; i < format->n && length < sizeof fault->text; i++)
        length += (size_t)snprintf(fault->text + length, sizeof fault->text - length, "%s %s", i > 0 ? "," : "",
                                   format->fields[i].name);
    if (format->n == 0)
        (void)snprintf(fault->text + length, sizeof fault->text - length, " none but config, config1 and config2");
    return -EINVAL;
}

static int encode_term(const struct event_format *format, struct encoding *e, const struct term *term,
                       struct fault *fault) {
    uint64_t value;
    if (term->name_length == 0)
        return fault_set(fault, "a term is missing: terms are name or name=value with ',' between them");
    for (size_t i = 0; i < e->n_seen; i++)
        if (e->seen[i].name_length == term->name_length && memcmp(e->seen[i].name, term->name, term->name_length) == 0)
            return fault_set(fault, "the term \"%.*s\" is there twice", shown(term->name_length), term->name);
    if (e->n_seen == EVENT_FORMAT_TERMS_MAX)
        return fault_set(fault, "more than %d terms", EVENT_FORMAT_TERMS_MAX);
    e->seen[e->n_seen++] = *term;
    const struct event_format_field *field = find(format, term->name, term->name_length);
    unsigned word = 0;
    while (word < EVENT_FORMAT_WORDS && !term_is(term, WORDS[word]))
        word++;
    if (!field && word == EVENT_FORMAT_WORDS)
        return is_ignored(term) ? 0 : refuse_unknown(format, term, fault);
    int r = read_value(term, &value, fault);
    if (r == 0 && field)
        return encode_field(e, field, value, fault);
    if (r == 0)
        e->whole[word] = value;
    return r;
}

int event_format_encode(const struct event_format *format, const char *terms, struct pmu_event *out,
                        struct fault *fault) {
    struct encoding e = {0};
    int r = 0;
    for (bool more = true; more && r == 0;) {
        struct term term;
        next_term(&terms, &term);
        more = *terms == ',';
        terms += more;
        r = encode_term(format, &e, &term, fault);
    }
    if (r < 0)
        return r;
    out->config = e.whole[0] | e.fields[0];
    out->config1 = e.whole[1] | e.fields[1];
    out->config2 = e.whole[2] | e.fields[2];
    return 0;
}
