// SPDX-License-Identifier: Apache-2.0
#include "config/perf_log/perf_log_event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/name.h"

// A name is NAME, NAME:modifiers, PMU/TERMS/ or PMU/TERMS/modifiers. TERMS are terms of the PMU's format, or begin with
// the name of an event, whose own terms the others then complete.

// ---- one name ----

// A PMU of cores, by the names that the kernel gives them.
static bool is_core_pmu(const char *name, size_t length) {
    static const char *const words[] = {"armv", "apple_"}, *const whole[] = {"cpu", "cpu_core", "cpu_atom",
                                                                             "cpu_lowpower"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncasecmp(name, words[i], strlen(words[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strlen(whole[i]) == length && memcmp(name, whole[i], length) == 0)
            return true;
    return false;
}

// perf writes "context-switches" for a vendor's CONTEXT_SWITCHES.
static int find_name(const struct catalog *catalog, const char *name, size_t length) {
    char word[PERF_LOG_NAME_MAX + 1];
    (void)snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (size_t e = 1; e < catalog->n_events; e++)
        if (name_equal(catalog->events[e].name, word))
            return (int)e;
    return catalog_find_event_any_case(catalog, name, length); // another name of an event
}

// Codes are those of a core's PMU: a spec of the kernel's own events has none.
static int find_code(const struct catalog *catalog, const struct pmu_event *code) {
    if (!is_core_pmu(catalog->product.pmu, strlen(catalog->product.pmu)))
        return -1;
    for (size_t e = 1; e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        if (event->kind == EVENT_COUNTED && event->code.pmu == 0 && event->code.config == code->config &&
            event->code.config1 == code->config1 && event->code.config2 == code->config2)
            return (int)e;
    }
    return -1;
}

// "event=0x11,umask=0x1" or "config=0x11"; without a format, event is config.
static int find_terms(const struct catalog *catalog, const char *terms) {
    struct pmu_event code = {.pmu = 0};
    struct fault error;
    if (catalog->format)
        return event_format_encode(catalog->format, terms, &code, &error) == 0 ? find_code(catalog, &code) : -1;
    size_t skip = strncmp(terms, "event=", 6) == 0 ? 6 : strncmp(terms, "config=", 7) == 0 ? 7 : 0;
    char *end;
    code.config = strtoull(terms + skip, &end, 0);
    return skip > 0 && end > terms + skip && *end == '\0' ? find_code(catalog, &code) : -1;
}

static int find_raw(const struct catalog *catalog, const char *name, size_t length) {
    struct pmu_event code = {.pmu = 0};
    if (length < 2 || length > 17 || name[0] != 'r' || strspn(name + 1, "0123456789abcdefABCDEF") < length - 1)
        return -1;
    code.config = strtoull(name + 1, NULL, 16);
    return find_code(catalog, &code);
}

static const char *perf_terms(const struct catalog *catalog, const struct perf_names *names, const char *name,
                              size_t length) {
    return names ? perf_names_find(names, &catalog->product, name, length) : NULL;
}

// A name without PMU, or all that stands between the slashes.
static int find_word(const struct catalog *catalog, const struct perf_names *names, const char *name, size_t length) {
    int found = find_name(catalog, name, length);
    const char *terms = found < 0 ? perf_terms(catalog, names, name, length) : NULL;
    if (terms)
        found = find_terms(catalog, terms);
    return found >= 0 ? found : find_raw(catalog, name, length);
}

// "NAME,term=1": the terms of the event, and those that follow.
static int find_completed(const struct catalog *catalog, const struct perf_names *names, const char *text) {
    size_t length = strcspn(text, ",");
    int event = text[length] == ',' && !memchr(text, '=', length) ? find_name(catalog, text, length) : -1;
    const char *own =
        event >= 0 ? catalog->events[event].terms : perf_terms(catalog, names, text, text[length] == ',' ? length : 0);
    char terms[2 * PERF_LOG_NAME_MAX + 2];
    if (!own || (size_t)snprintf(terms, sizeof terms, "%s%s", own, text + length) >= sizeof terms)
        return -1;
    return find_terms(catalog, terms);
}

// ---- PMUs ----

// The length of the name of the core PMU that counted the event; 0: it names none.
static size_t core_pmu(const char *event) {
    const char *slash = strchr(event, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
    return end && is_core_pmu(event, (size_t)(slash - event)) ? (size_t)(slash - event) : 0;
}

size_t perf_log_core_pmus(const struct perf_log *log, char pmus[PERF_LOG_PMUS_MAX][PERF_LOG_NAME_MAX + 1]) {
    size_t n = 0;
    for (size_t e = 0; e < log->n_events && n < PERF_LOG_PMUS_MAX; e++) {
        size_t length = core_pmu(log->events[e]), i = 0;
        while (i < n && (strlen(pmus[i]) != length || memcmp(pmus[i], log->events[e], length) != 0))
            i++;
        if (length > 0 && i == n)
            (void)snprintf(pmus[n++], PERF_LOG_NAME_MAX + 1, "%.*s", (int)length, log->events[e]);
    }
    return n;
}

int perf_log_find_event(const struct catalog *catalog, const struct perf_names *names, const char *name) {
    const char *slash = strchr(name, '/'), *end = slash ? strchr(slash + 1, '/') : NULL;
    if (slash && !end)
        return -1;
    if (!slash) {
        int found = find_name(catalog, name, strlen(name)); // a vendor's name may contain a ':'
        return found >= 0 ? found : find_word(catalog, names, name, strcspn(name, ":"));
    }
    char terms[PERF_LOG_NAME_MAX + 1];
    (void)snprintf(terms, sizeof terms, "%.*s", (int)(end - slash - 1), slash + 1);
    if (!is_core_pmu(name, (size_t)(slash - name)))
        return find_name(catalog, terms, strlen(terms));
    int found = find_word(catalog, names, terms, strlen(terms));
    if (found < 0)
        found = find_completed(catalog, names, terms);
    return found >= 0 ? found : find_terms(catalog, terms);
}

// True if every place of the log is one CPU, so that an event without PMU is one of CPUs of one type.
static bool places_are_cpus(const struct perf_log *log) {
    for (size_t i = 0; i < log->n_places; i++)
        if (strncmp(log->places[i], "CPU", 3) != 0)
            return false;
    return true;
}

int perf_log_find_event_of(const struct perf_log_request *request, size_t event) {
    const char *name = request->log->events[event];
    size_t length = core_pmu(name);
    bool of_it =
        !request->pmu || (length > 0 ? strlen(request->pmu) == length && memcmp(request->pmu, name, length) == 0
                                     : places_are_cpus(request->log));
    return of_it ? perf_log_find_event(request->catalog, request->names, name) : -1;
}

// True for "cycles", "cycles:u" and "cpu_core/cycles/": perf's own name, which CPUs of every vendor have.
static bool is_perfs_own(const struct perf_names *perfs, const char *event) {
    size_t pmu = core_pmu(event);
    const char *word = pmu > 0 ? event + pmu + 1 : event;
    return perf_names_has(perfs, word, strcspn(word, pmu > 0 ? "/," : ":"));
}

size_t perf_log_known(const struct perf_log_request *request, const struct perf_names *perfs) {
    size_t known = 0;
    for (size_t i = 0; i < request->log->n_events; i++)
        known += !(perfs && is_perfs_own(perfs, request->log->events[i])) && perf_log_find_event_of(request, i) >= 0;
    return known;
}

// ---- modifiers ----

static unsigned modes(const char *name) {
    static const char letters[] = "ukhGH";
    const char *slash = strrchr(name, '/'), *colon = strrchr(name, ':');
    const char *from = slash ? slash + 1 : colon ? colon + 1 : "";
    unsigned set = 0;
    for (; *from != '\0'; from++) {
        const char *letter = strchr(letters, *from);
        set |= letter ? 1U << (letter - letters) : 0;
    }
    return set;
}

bool perf_log_same_modes(const char *a, const char *b) { return modes(a) == modes(b); }
