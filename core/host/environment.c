// SPDX-License-Identifier: Apache-2.0
#include "core/host/environment.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/host/identify.h"

void environment_init(struct environment *environment) {
    *environment = (struct environment){.context = NULL};
    for (size_t i = 0; i < LITERAL_N; i++)
        environment->facts.literals[i] = NAN;
    environment->facts.literals[LITERAL_SMT_ON] = 1;
}

int environment_find_literal(const char *name, size_t length) {
    static const char *const names[LITERAL_N] = {"smt_on",   "core_wide",    "num_cpus", "num_cpus_online", "num_cores",
                                                 "num_dies", "num_packages", "slots",    "system_tsc_freq", "has_pmem"};
    for (int i = 0; i < LITERAL_N; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0)
            return i;
    return -1;
}

static const struct environment_answer *find_answer(const struct environment_answers *answers, const char *name) {
    for (size_t i = 0; i < answers->n; i++)
        if (strcmp(answers->items[i].name, name) == 0)
            return &answers->items[i];
    return NULL;
}

bool environment_listen(const void *listener, const char *name) {
    const struct environment_listener *asked = listener;
    struct environment_answers *answers = asked->answers;
    bool there = asked->has_event(asked->context, name);
    size_t length = strlen(name);
    if (!find_answer(answers, name) && answers->n < ENVIRONMENT_ANSWERS_MAX && length <= ENVIRONMENT_NAME_MAX) {
        struct environment_answer *answer = &answers->items[answers->n++];
        memcpy(answer->name, name, length + 1);
        answer->there = there;
    }
    return there;
}

bool environment_answer(const void *answers, const char *name) {
    const struct environment_answer *answer = find_answer(answers, name);
    return answer && answer->there;
}

bool environment_is_cpu(const struct environment *environment, const char *pattern) {
    if (environment->facts.cpuid[0] == '\0')
        return false;
    if (strncasecmp(pattern, "0x", 2) == 0 && strncasecmp(environment->facts.cpuid, "0x", 2) == 0)
        return midr_matches((uint32_t)strtoull(pattern, NULL, 16),
                            (uint32_t)strtoull(environment->facts.cpuid, NULL, 16));
    return cpuid_matches(pattern, environment->facts.cpuid);
}
