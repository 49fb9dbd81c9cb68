// SPDX-License-Identifier: Apache-2.0
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "config/perf_log/perf_log_private.h"

// A line of perf stat -j: one flat object. Counts are texts; times and shares are numbers, texts in newer versions.

enum { PIECE_MAX = 512 };

static const char *text_of(const cJSON *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(value) && strlen(value->valuestring) < PIECE_MAX ? value->valuestring : NULL;
}

// Copies a text or a number to *scratch and moves *scratch past it.
static const char *keep(const cJSON *object, const char *key, char **scratch) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
    const char *text = text_of(object, key), *kept = *scratch;
    if (text)
        *scratch += 1 + snprintf(*scratch, PIECE_MAX, "%s", text);
    else if (cJSON_IsNumber(value))
        *scratch += 1 + snprintf(*scratch, PIECE_MAX, "%.9f", value->valuedouble);
    else
        return NULL;
    return kept;
}

static bool read_object(const cJSON *object, bool timed, char *scratch, struct perf_log_line *out) {
    static const char *const places[] = {"socket", "die", "cluster", "cache", "core", "node", "thread"};
    const char *time = keep(object, "interval", &scratch), *place = NULL;
    if (timed ? !time || !perf_log_time(time, &out->end_ns) : time != NULL)
        return false;
    out->event = keep(object, "event", &scratch);
    out->count = keep(object, "counter-value", &scratch);
    out->unit = keep(object, "unit", &scratch);
    out->running = keep(object, "event-runtime", &scratch);
    out->share = keep(object, "pcnt-running", &scratch);
    const cJSON *cpus = cJSON_GetObjectItemCaseSensitive(object, "aggregate-number");
    out->cpus = cJSON_IsNumber(cpus) && cpus->valuedouble >= 1 && cpus->valuedouble < PERF_LOG_PLACES_MAX
                    ? (unsigned)cpus->valuedouble
                    : 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !place; i++)
        place = keep(object, places[i], &scratch);
    const char *cpu = text_of(object, "cpu"), *cgroup = keep(object, "cgroup", &scratch);
    if (cgroup && (place || cpu))
        return false; // CPUs of each cgroup: more places than a host has
    place = cgroup ? cgroup : place;
    if (cpu) {
        (void)snprintf(scratch, PIECE_MAX, "%s%.*s", strncmp(cpu, "CPU", 3) == 0 ? "" : "CPU", PIECE_MAX - 4, cpu);
        place = scratch;
    }
    out->place = place ? place : "";
    out->unit = out->unit ? out->unit : "";
    return out->event && out->count && out->event[0] != '\0';
}

bool perf_log_read_json(const char *line, size_t length, bool timed, char *scratch, struct perf_log_line *out) {
    cJSON *object = cJSON_ParseWithLength(line, length);
    bool good = cJSON_IsObject(object) && read_object(object, timed, scratch, out);
    cJSON_Delete(object);
    return good;
}
