// SPDX-License-Identifier: Apache-2.0
#include "config/scenario/scenario_json_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Loads: keyframes of rates, or of mixes, which are expanded here.

enum {
    LOADS_MAX = 64,
    KEYFRAMES_MAX = 256,
    RATES_TOTAL_MAX = 1 << 17 // mixes expand: bounds the memory that a small file can demand
};

// Keyframes closer than a microsecond are a mistake, and would divide by almost zero.
static const double SECONDS_APART_MIN = 1e-6;
static const double RATE_MAX = 1e12, PER_CYCLE_MAX = 1e3;

void *scenario_room_for(const struct json_node *list, size_t size) {
    void *items = calloc((size_t)cJSON_GetArraySize(list->value) + 1, size);
    if (!items)
        json_fail_memory(list);
    return items;
}

static void read_rate(const struct json_node *node, double scale, double max, struct scenario_keyframe *keyframe) {
    if (!json_is_number(node, 0, max))
        return;
    double per_second = node->value->valuedouble * scale;
    if (per_second > RATE_MAX) {
        json_fail(node, "makes %g events a second, more than %g", per_second, RATE_MAX);
        return;
    }
    char *event = strdup(node->key);
    if (event)
        keyframe->rates[keyframe->n_rates++] = (struct scenario_rate){.event = event, .per_second = per_second};
    else
        json_fail_memory(node);
}

static void read_rates(struct scenario_reader *reader, const struct json_node *rates, double scale, double max,
                       struct scenario_keyframe *keyframe) {
    size_t n = (size_t)cJSON_GetArraySize(rates->value);
    if (n > SCENARIO_RATES_MAX || reader->n_rates + n > RATES_TOTAL_MAX) {
        json_fail(rates, "has too many events: %d in a keyframe, and %d in all, are the limit", SCENARIO_RATES_MAX,
                  RATES_TOTAL_MAX);
        return;
    }
    reader->n_rates += n;
    keyframe->rates = scenario_room_for(rates, sizeof *keyframe->rates);
    const cJSON *value;
    cJSON_ArrayForEach(value, rates->value) {
        const struct json_node rate = json_child(rates, value, 0);
        if (keyframe->rates)
            read_rate(&rate, scale, max, keyframe);
    }
}

void scenario_fail_unknown(const struct json_node *node, const char *what, const char *name,
                           const struct json_node *object) {
    char text[160];
    const char *names[LOADS_MAX];
    size_t n = 0;
    const cJSON *value;
    cJSON_ArrayForEach(value, object->value) if (n < COUNT(names)) names[n++] = value->string;
    (void)snprintf(text, sizeof text, "there is no %s \"%.60s\"", what, name);
    json_fail_suggest(node, name, names, n, text);
}

static void read_mix(struct scenario_reader *reader, const struct json_node *node, struct scenario_keyframe *keyframe) {
    const char *name;
    double utilisation;
    if (!json_get_text(node, "mix", JSON_REQUIRED, &name) ||
        !json_get_number(node, "utilisation", JSON_REQUIRED, 0, 1, &utilisation))
        return;
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(reader->mixes.value, name);
    const struct json_node mix = {.reader = node->reader, .parent = &reader->mixes, .key = name, .value = value};
    if (!value)
        scenario_fail_unknown(node, "mix", name, &reader->mixes);
    else if (reader->frequency_hz <= 0)
        json_fail(node, "needs frequency_hz at the top level: a mix is per cycle");
    else if (json_is_object(&mix))
        read_rates(reader, &mix, utilisation * reader->frequency_hz, PER_CYCLE_MAX, keyframe);
    keyframe->awake_told = true;
    keyframe->awake = utilisation;
}

static void read_keyframe(struct scenario_reader *reader, const struct json_node *node,
                          struct scenario_keyframe *keyframe) {
    static const char *const keys[] = {"at_seconds", "rates", "mix", "utilisation"};
    struct json_node rates;
    json_check_keys(node, keys, COUNT(keys));
    (void)json_get_number(node, "at_seconds", JSON_REQUIRED, 0, SCENARIO_SECONDS_MAX, &keyframe->at_seconds);
    bool has_rates = cJSON_GetObjectItemCaseSensitive(node->value, "rates");
    bool has_mix = cJSON_GetObjectItemCaseSensitive(node->value, "mix");
    if (has_rates == has_mix)
        json_fail(node, "needs either rates, or mix and utilisation");
    else if (has_mix)
        read_mix(reader, node, keyframe);
    else if (json_get_object(node, "rates", JSON_REQUIRED, &rates))
        read_rates(reader, &rates, 1, RATE_MAX, keyframe);
    if (has_rates && !has_mix)
        keyframe->awake_told = json_get_number(node, "utilisation", JSON_OPTIONAL, 0, 1, &keyframe->awake);
}

static void check_times(const struct json_node *keyframes, const struct scenario_load *load) {
    if (load->keyframes[0].at_seconds != 0)
        json_fail(keyframes, "the first keyframe must be at_seconds 0");
    for (size_t i = 1; i < load->n_keyframes; i++)
        if (load->keyframes[i].at_seconds - load->keyframes[i - 1].at_seconds < SECONDS_APART_MIN) {
            json_fail(keyframes, "keyframe %zu is not later than the one before it", i);
            return;
        }
    if (load->period_seconds - load->keyframes[load->n_keyframes - 1].at_seconds < SECONDS_APART_MIN)
        json_fail(keyframes, "the last keyframe must be before period_seconds, when the first one comes again");
}

static void read_load(struct scenario_reader *reader, const struct json_node *node, struct scenario_load *load) {
    static const char *const keys[] = {"period_seconds", "keyframes"};
    struct json_node keyframes;
    const cJSON *value;
    load->name = strdup(node->key);
    if (!load->name)
        json_fail_memory(node);
    if (!json_is_object(node))
        return;
    json_check_keys(node, keys, COUNT(keys));
    (void)json_get_number(node, "period_seconds", JSON_REQUIRED, 1e-3, SCENARIO_SECONDS_MAX, &load->period_seconds);
    if (!json_get_array(node, "keyframes", JSON_REQUIRED, KEYFRAMES_MAX, &keyframes))
        return;
    load->keyframes = scenario_room_for(&keyframes, sizeof *load->keyframes);
    cJSON_ArrayForEach(value, keyframes.value) {
        const struct json_node keyframe = json_child(&keyframes, value, load->n_keyframes);
        if (!load->keyframes)
            return;
        struct scenario_keyframe *next = &load->keyframes[load->n_keyframes++];
        if (json_is_object(&keyframe))
            read_keyframe(reader, &keyframe, next);
    }
    if (load->n_keyframes == 0)
        json_fail(&keyframes, "needs at least one keyframe");
    else if (reader->reader.status == 0)
        check_times(&keyframes, load);
}

void scenario_read_loads(struct scenario_reader *reader, const struct json_node *loads) {
    struct scenario *scenario = reader->scenario;
    if (cJSON_GetArraySize(loads->value) > LOADS_MAX) {
        json_fail(loads, "has more than %d loads", LOADS_MAX);
        return;
    }
    scenario->loads = scenario_room_for(loads, sizeof *scenario->loads);
    const cJSON *value;
    cJSON_ArrayForEach(value, loads->value) {
        const struct json_node load = json_child(loads, value, 0);
        if (scenario->loads)
            read_load(reader, &load, &scenario->loads[scenario->n_loads++]);
    }
}
