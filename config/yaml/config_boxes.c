// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_boxes.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_value.h"
#include "core/base/decimal.h"

enum { SOCKETS_MAX = 64, PATTERN_MAX = 63, EVENT_MAX = 63, PATTERNS_MAX = 256, PMUS_MAX = 16, EVENTS_MAX = 16 };
enum { EXPLAINED_MAX = 160 };

static const double PEAK_MIN = 1e6, PEAK_MAX = 1e14; // bytes per second

// ---- peak ----

// A number and what stands behind it: "307.2GB", "286.1 GiB/s", "307200000000".
struct rate {
    struct decimal number;
    const char *unit; // "GB", without "/s"
    size_t length;    // of the unit; 0: there is none
};

static bool read_rate(const char *text, struct rate *out) {
    if (!decimal_read(&text, &out->number))
        return false;
    out->unit = text + strspn(text, " ");
    out->length = strlen(out->unit);
    if (out->length > 2 && strcmp(out->unit + out->length - 2, "/s") == 0)
        out->length -= 2;
    return true;
}

// A unit of one letter is refused: sizes elsewhere mean powers of 1024 with it, and the data sheets of memory powers of
// 1000.
static bool convert_rate(const struct rate *rate, double *out) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"", 1},      {"B", 1},         {"MB", 1e6},         {"GB", 1e9},
                 {"TB", 1e12}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776}};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        if (strlen(units[u].name) == rate->length && strncmp(rate->unit, units[u].name, rate->length) == 0) {
            *out = decimal_value(rate->number) * units[u].bytes;
            return true;
        }
    return false;
}

// "Gb", "Gbit", "Gbps", "Gib".
static bool is_bits(const struct rate *rate) {
    static const char *const names[] = {"b", "bit", "bps"};
    size_t prefix = rate->length > 0 && strchr("kKMGT", rate->unit[0]) ? 1 : 0;
    prefix += prefix == 1 && rate->length > 1 && rate->unit[1] == 'i' ? 1 : 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == rate->length - prefix &&
            strncmp(rate->unit + prefix, names[i], rate->length - prefix) == 0)
            return true;
    return false;
}

// What is wrong with a text that is no number of bytes a second, and what to write.
static const char *explain_rate(const char *text, char out[EXPLAINED_MAX]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", digits[] = "0123456789";
    const char *what = "is no number of bytes a second: write it with its unit, such as 307.2GB or 286.1GiB, or auto";
    struct rate rate;
    if (text[0] == '-' && text[1] != '\0' && strchr(digits, text[1]))
        what = "must be positive, such as 307.2GB";
    else if (read_rate(text, &rate) && strspn(rate.unit, letters) >= rate.length) {
        what = "has an unknown unit: write MB, GB or TB (powers of 1000), or MiB, GiB or TiB (powers of 1024)";
        if (is_bits(&rate)) {
            (void)snprintf(out, EXPLAINED_MAX, "is in bits (%.*s): write bytes, such as 307.2GB", (int)rate.length,
                           rate.unit);
            return out;
        }
        if (rate.length == 1 && strchr("MGT", *rate.unit)) {
            (void)snprintf(out, EXPLAINED_MAX,
                           "has the unit %c, which is not clear: write %cB (powers of 1000) or %ciB (powers of 1024)",
                           *rate.unit, *rate.unit, *rate.unit);
            return out;
        }
    }
    return what;
}

// The same of a number that is out of range.
static const char *explain_range(const struct rate *rate, double bytes) {
    return !(bytes > 0) ? "must be positive, such as 307.2GB"
           : rate->length == 0 && bytes < PEAK_MIN
               ? "has no unit, so it is in bytes a second: write its unit, such as 307.2GB"
               : "is out of range: 1MB to 100TB a second are allowed";
}

// Returns false, with the mistake in the decoder's errors, if the value is no rate.
static bool decode_rate(struct config_decoder *decoder, const struct yaml_tree *value, double *out) {
    char explained[EXPLAINED_MAX];
    const char *mistake = NULL;
    double bytes = 0;
    struct rate rate;
    if (!config_value_is(value, YAML_TREE_SCALAR, "peak", "307.2GB", decoder->errors))
        return false;
    if (strcmp(value->text, "auto") != 0) {
        if (!read_rate(value->text, &rate) || !convert_rate(&rate, &bytes))
            mistake = explain_rate(value->text, explained);
        else if (!(bytes >= PEAK_MIN && bytes <= PEAK_MAX))
            mistake = explain_range(&rate, bytes);
    }
    if (mistake)
        (void)yaml_tree_error(decoder->errors, &value->origin, "peak: \"%s\" %s", yaml_tree_word(value->text).text,
                              mistake);
    else
        *out = bytes;
    return !mistake;
}

static void decode_socket(struct config_decoder *decoder, const struct yaml_tree_entry *entry,
                          struct config_uncore *uncore) {
    const char *text = entry->key;
    struct decimal number = {0};
    struct config_peak peak = {0};
    bool is_socket = decimal_read(&text, &number) && *text == '\0' && number.places == 0 && number.digits < SOCKETS_MAX;
    if (!is_socket)
        (void)yaml_tree_error(decoder->errors, &entry->key_origin,
                              "peak: \"%s\" is no number of a socket: write 0 to %d, as in {0: 307.2GB, 1: 307.2GB}",
                              yaml_tree_word(entry->key).text, SOCKETS_MAX - 1);
    if (!decode_rate(decoder, entry->value, &peak.bytes_per_second) || !is_socket)
        return;
    peak.socket = (unsigned)number.digits;
    uncore->peaks[uncore->n_peaks++] = peak;
}

void config_boxes_decode_peak(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    struct config_uncore *uncore = &decoder->config->uncore;
    bool by_socket = value->kind == YAML_TREE_MAP;
    struct config_peak peak = {.every = true};
    (void)member;
    if (!by_socket && !config_value_is(value, YAML_TREE_SCALAR, key->name,
                                       "307.2GB, or a mapping by socket, such as {0: 307.2GB}", decoder->errors))
        return;
    uncore->peak_origin = value->origin;
    uncore->peaks = config_map_array(decoder, by_socket ? value->n : 1, sizeof *uncore->peaks);
    for (size_t i = 0; uncore->peaks && by_socket && i < value->n; i++)
        decode_socket(decoder, &value->entries[i], uncore);
    if (uncore->peaks && !by_socket && decode_rate(decoder, value, &peak.bytes_per_second))
        uncore->peaks[uncore->n_peaks++] = peak;
}

double config_uncore_peak(const struct config_uncore *uncore, unsigned socket) {
    for (size_t i = 0; i < uncore->n_peaks; i++)
        if (uncore->peaks[i].every || uncore->peaks[i].socket == socket)
            return uncore->peaks[i].bytes_per_second;
    return 0;
}

// ---- patterns ----

static bool is_name(const char *text, const char *more) {
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    for (; *text != '\0'; text++)
        if (!strchr(characters, *text) && !strchr(more, *text))
            return false;
    return true;
}

// A name, or a pattern where `more` has its characters: no path can be made of it.
static void add_pattern(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                        const char *more, struct config_patterns *patterns) {
    if (!config_value_text(value, key->name, PATTERN_MAX, key->example, decoder->errors))
        return;
    if (!is_name(value->text, more) || value->text[0] == '.') {
        (void)yaml_tree_error(
            decoder->errors, &value->origin,
            "%s: \"%s\" cannot be a name in sysfs: write letters, digits, '_', '-' and '.'%s, as in %s", key->name,
            yaml_tree_word(value->text).text, *more ? ", or a pattern with * ? [ ]" : "", key->example);
        return;
    }
    char *text = config_map_text(decoder, value->text);
    if (text)
        patterns->items[patterns->n++] = (struct config_pattern){text, value->origin};
}

static void decode_list(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                        const char *more, size_t max, struct config_patterns *patterns) {
    if (!config_value_is(value, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    if (value->n == 0 || value->n > max) {
        (void)yaml_tree_error(decoder->errors, &value->origin, "%s has %s: write 1 to %zu, as in %s", key->name,
                              value->n == 0 ? "no entry" : "too many entries", max, key->example);
        return;
    }
    patterns->items = config_map_array(decoder, value->n, sizeof *patterns->items);
    for (size_t i = 0; patterns->items && i < value->n; i++)
        add_pattern(decoder, key, value->entries[i].value, more, patterns);
}

void config_boxes_decode_patterns(struct config_decoder *decoder, const struct config_key *key,
                                  const struct yaml_tree *value, void *member) {
    decode_list(decoder, key, value, "*?[]!", PATTERNS_MAX, member);
}

void config_boxes_decode_events(struct config_decoder *decoder, const struct config_key *key,
                                const struct yaml_tree *value, void *member) {
    decode_list(decoder, key, value, "", EVENTS_MAX, member);
}

void config_boxes_decode_name(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    struct config_patterns *patterns = member;
    patterns->items = config_map_array(decoder, 1, sizeof *patterns->items);
    if (patterns->items)
        add_pattern(decoder, key, value, "*?[]!", patterns);
}

static bool matches(const struct config_patterns *patterns, const char *name) {
    for (size_t i = 0; i < patterns->n; i++)
        if (fnmatch(patterns->items[i].text, name, 0) == 0)
            return true;
    return false;
}

bool config_uncore_leaves_out(const struct config_uncore *uncore, const char *pmu) {
    const struct config_boxes *boxes = &uncore->boxes;
    return (boxes->include.n > 0 && !matches(&boxes->include, pmu)) || matches(&boxes->exclude, pmu);
}

// ---- mappings ----

void config_boxes_decode(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                         void *member) {
    (void)member;
    if (!config_value_is(value, YAML_TREE_MAP, key->name, key->example, decoder->errors))
        return;
    config_map_check(decoder, value, CONFIG_BOXES);
    config_map_read(decoder, value, CONFIG_BOXES, &decoder->config->uncore.boxes);
}

static void decode_pmu(struct config_decoder *decoder, const struct config_key *key, const struct yaml_tree *value,
                       struct config_uncore *uncore) {
    static const char example[] = "{name: power, events: [energy-pkg]}";
    if (!config_value_is(value, YAML_TREE_MAP, "an entry of pmus", example, decoder->errors))
        return;
    (void)key;
    config_map_check(decoder, value, CONFIG_PMU);
    bool has_name = yaml_tree_get(value, "name") != NULL;
    if (!has_name || !yaml_tree_get(value, "events"))
        (void)yaml_tree_error(decoder->errors, &value->origin, "an entry of pmus without %s: write it as %s",
                              has_name ? "events" : "name", example);
    config_map_read(decoder, value, CONFIG_PMU, &uncore->pmus[uncore->n_pmus++]);
}

void config_boxes_decode_pmus(struct config_decoder *decoder, const struct config_key *key,
                              const struct yaml_tree *value, void *member) {
    struct config_uncore *uncore = &decoder->config->uncore;
    (void)member;
    if (!config_value_is(value, YAML_TREE_LIST, key->name, key->example, decoder->errors))
        return;
    if (value->n > PMUS_MAX) {
        (void)yaml_tree_error(decoder->errors, &value->origin, "pmus: more than %d", PMUS_MAX);
        return;
    }
    uncore->pmus = config_map_array(decoder, value->n, sizeof *uncore->pmus);
    for (size_t i = 0; uncore->pmus && i < value->n; i++)
        decode_pmu(decoder, key, value->entries[i].value, uncore);
}

// ---- the end ----

static void free_patterns(struct config_patterns *patterns) {
    for (size_t i = 0; i < patterns->n; i++)
        free(patterns->items[i].text);
    free(patterns->items);
}

void config_boxes_deinit(struct config_uncore *uncore) {
    for (size_t i = 0; i < uncore->n_pmus; i++) {
        free_patterns(&uncore->pmus[i].name);
        free_patterns(&uncore->pmus[i].events);
    }
    free(uncore->pmus);
    free_patterns(&uncore->boxes.include);
    free_patterns(&uncore->boxes.exclude);
    free(uncore->peaks);
}
