// SPDX-License-Identifier: Apache-2.0
#include "core/host/platform.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct platform_name platform_names[PLATFORM_KEY_N] = {
    [PLATFORM_SMT] = {"smt", "SMT", PLATFORM_TEXT},
    [PLATFORM_THREADS_PER_CORE] = {"threads_per_core", "Threads of a core that are online", PLATFORM_COUNT},
    [PLATFORM_SOCKETS] = {"sockets", "Sockets", PLATFORM_COUNT},
    [PLATFORM_NUMA_NODES] = {"numa_nodes", "NUMA nodes", PLATFORM_COUNT},
    [PLATFORM_NUMA_BALANCING] = {"numa_balancing", "NUMA balancing", PLATFORM_TEXT},
    [PLATFORM_TRANSPARENT_HUGEPAGES] = {"transparent_hugepages", "Transparent huge pages", PLATFORM_TEXT},
    [PLATFORM_RESERVED_HUGEPAGES] = {"reserved_hugepages_bytes", "Memory in reserved huge pages", PLATFORM_BYTES},
    [PLATFORM_GOVERNOR] = {"frequency_governor", "Frequency governor", PLATFORM_TEXT},
    [PLATFORM_FREQUENCY_DRIVER] = {"frequency_driver", "Frequency driver", PLATFORM_TEXT},
    [PLATFORM_FREQUENCY_MINIMUM] = {"frequency_minimum_hertz", "Lowest frequency that the governor may choose",
                                    PLATFORM_HERTZ},
    [PLATFORM_FREQUENCY_MAXIMUM] = {"frequency_maximum_hertz", "Highest frequency that the governor may choose",
                                    PLATFORM_HERTZ},
    [PLATFORM_BOOST] = {"frequency_boost", "Boost above the base frequency", PLATFORM_TEXT},
    [PLATFORM_VIRTUAL_MACHINE] = {"virtual_machine", "Virtual machine", PLATFORM_TEXT},
    [PLATFORM_PREFETCHERS] = {"prefetchers", "Hardware prefetchers", PLATFORM_TEXT},
    [PLATFORM_MICROCODE] = {"microcode", "Microcode", PLATFORM_TEXT},
    [PLATFORM_KERNEL] = {"kernel", "Kernel", PLATFORM_TEXT},
    [PLATFORM_CLOCK_SOURCE] = {"clock_source", "Clock source", PLATFORM_TEXT},
    [PLATFORM_ISOLATED_CPUS] = {"isolated_cpus", "Isolated CPUs", PLATFORM_TEXT},
};

struct platform *platform_new(const char *reason) {
    struct platform *platform = calloc(1, sizeof *platform);
    if (!platform)
        return NULL;
    atomic_init(&platform->references, 1);
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        platform_set_unknown(platform, (enum platform_key)key, "%s", reason);
    return platform;
}

struct platform *platform_ref(struct platform *platform) {
    atomic_fetch_add_explicit(&platform->references, 1, memory_order_relaxed);
    return platform;
}

struct platform *platform_unref(struct platform *platform) {
    if (platform && atomic_fetch_sub_explicit(&platform->references, 1, memory_order_acq_rel) == 1) {
        for (int key = 0; key < PLATFORM_KEY_N; key++)
            free(platform->facts[key].values);
        free(platform);
    }
    return NULL;
}

// Makes room for n values. NULL if there is no memory.
static struct platform_value *set_values(struct platform *platform, enum platform_key key, size_t n) {
    struct platform_fact *fact = &platform->facts[key];
    free(fact->values);
    fact->values = calloc(n, sizeof *fact->values);
    fact->n_values = fact->values ? n : 0;
    (void)snprintf(fact->reason, sizeof fact->reason, "%s", fact->values ? "" : "out of memory");
    return fact->values;
}

static void copy_printable(const char *text, char *out, size_t size) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < size; n++)
        out[n] = isprint((unsigned char)text[n]) ? text[n] : '?';
    out[n] = '\0';
}

void platform_set_text(struct platform *platform, enum platform_key key, const char *text) {
    struct platform_value *value = set_values(platform, key, 1);
    if (value)
        copy_printable(text, value->text, sizeof value->text);
}

void platform_set_number(struct platform *platform, enum platform_key key, double number) {
    struct platform_value *value = set_values(platform, key, 1);
    if (value)
        value->number = number;
}

void platform_set_unknown(struct platform *platform, enum platform_key key, const char *format, ...) {
    struct platform_fact *fact = &platform->facts[key];
    char reason[PLATFORM_REASON_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    free(fact->values);
    fact->values = NULL;
    fact->n_values = 0;
    copy_printable(reason, fact->reason, sizeof fact->reason);
}

void platform_set_shares(struct platform *platform, enum platform_key key, const struct platform_share *shares,
                         size_t n) {
    struct platform_value *values = n > 0 ? set_values(platform, key, n) : NULL;
    for (size_t i = 0; values && i < n; i++) {
        copy_printable(shares[i].text, values[i].text, sizeof values[i].text);
        values[i].number = shares[i].number;
        values[i].n_cpus = cpuset_count(&shares[i].cpus);
        if (n > 1)
            cpuset_format(&shares[i].cpus, values[i].cpus, sizeof values[i].cpus);
    }
}

void platform_copy(struct platform *platform, enum platform_key key, const struct platform *from) {
    const struct platform_fact *fact = &from->facts[key];
    if (fact->n_values == 0) {
        platform_set_unknown(platform, key, "%s", fact->reason);
        return;
    }
    struct platform_value *values = set_values(platform, key, fact->n_values);
    if (values)
        memcpy(values, fact->values, fact->n_values * sizeof *values);
}

void platform_set_environment(struct platform *platform, const struct environment_facts *facts) {
    const double *literals = facts->literals;
    double threads = literals[LITERAL_NUM_CPUS_ONLINE] / literals[LITERAL_NUM_CORES];
    if (isfinite(threads) && isfinite(literals[LITERAL_SMT_ON])) // where cores are unknown, SMT is assumed
        platform_set_text(platform, PLATFORM_SMT, literals[LITERAL_SMT_ON] != 0 ? "on" : "off");
    if (isfinite(threads) && threads == floor(threads))
        platform_set_number(platform, PLATFORM_THREADS_PER_CORE, threads);
    if (isfinite(literals[LITERAL_NUM_PACKAGES]))
        platform_set_number(platform, PLATFORM_SOCKETS, literals[LITERAL_NUM_PACKAGES]);
}

static bool facts_equal(const struct platform_fact *a, const struct platform_fact *b) {
    bool equal = a->n_values == b->n_values && strcmp(a->reason, b->reason) == 0;
    for (size_t i = 0; equal && i < a->n_values; i++)
        equal = strcmp(a->values[i].text, b->values[i].text) == 0 && a->values[i].number == b->values[i].number &&
                strcmp(a->values[i].cpus, b->values[i].cpus) == 0 && a->values[i].n_cpus == b->values[i].n_cpus;
    return equal;
}

bool platform_equal(const struct platform *a, const struct platform *b) {
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        if (!facts_equal(&a->facts[key], &b->facts[key]))
            return false;
    return true;
}
