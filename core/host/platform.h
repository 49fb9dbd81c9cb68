// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_PLATFORM_H
#define TOPDOWND_CORE_HOST_PLATFORM_H

// What a host's platform is, as far as it bears on the numbers: threads, memory, frequency, hypervisor. Every fact has
// a value, or several where CPUs differ, or none and the reason why it is not known. Immutable and shared by reference
// counting once it is made.

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/cpuset.h"
#include "core/host/environment.h"

enum platform_key {
    PLATFORM_SMT,
    PLATFORM_THREADS_PER_CORE,
    PLATFORM_SOCKETS,
    PLATFORM_NUMA_NODES,
    PLATFORM_NUMA_BALANCING,
    PLATFORM_TRANSPARENT_HUGEPAGES,
    PLATFORM_RESERVED_HUGEPAGES,
    PLATFORM_GOVERNOR,
    PLATFORM_FREQUENCY_DRIVER,
    PLATFORM_FREQUENCY_MINIMUM,
    PLATFORM_FREQUENCY_MAXIMUM,
    PLATFORM_BOOST,
    PLATFORM_VIRTUAL_MACHINE,
    PLATFORM_PREFETCHERS,
    PLATFORM_MICROCODE,
    PLATFORM_KERNEL,
    PLATFORM_CLOCK_SOURCE,
    PLATFORM_ISOLATED_CPUS,
    PLATFORM_KEY_N
};

enum platform_unit { PLATFORM_TEXT, PLATFORM_COUNT, PLATFORM_HERTZ, PLATFORM_BYTES };

// The names for programs and for people.
struct platform_name {
    const char *key, *title;
    enum platform_unit unit;
};
extern const struct platform_name platform_names[PLATFORM_KEY_N];

enum { PLATFORM_VALUE_MAX = 96, PLATFORM_LIST_MAX = 96, PLATFORM_REASON_MAX = 192, PLATFORM_VALUES_MAX = 8 };

// A value, and the CPUs that have it; where all CPUs have the same, the list is empty.
struct platform_value {
    char text[PLATFORM_VALUE_MAX]; // if the unit is PLATFORM_TEXT
    double number;                 // else
    char cpus[PLATFORM_LIST_MAX];  // "0-3,8"; cut at the end with "..."
    size_t n_cpus;
};

struct platform_fact {
    struct platform_value *values; // NULL: not known
    size_t n_values;
    char reason[PLATFORM_REASON_MAX]; // why it is not known, else ""
};

struct platform {
    struct platform_fact facts[PLATFORM_KEY_N];
    atomic_uint references;
};

// Makes a platform of which nothing is known, for a reason that is never shown if each fact is set. NULL if out of
// memory.
struct platform *platform_new(const char *reason);
struct platform *platform_ref(struct platform *platform);
struct platform *platform_unref(struct platform *platform); // returns NULL, takes NULL

// Each sets a fact of a platform that nobody else has yet. Without memory for a value the fact stays unknown, with that
// as its reason. Texts are cut, and everything but printable ASCII becomes '?'.
void platform_set_text(struct platform *platform, enum platform_key key, const char *text);
void platform_set_number(struct platform *platform, enum platform_key key, double number);
__attribute__((format(printf, 3, 4))) void platform_set_unknown(struct platform *platform, enum platform_key key,
                                                                const char *format, ...);
// The values that sets of CPUs have, each once. One value is that of all CPUs.
struct platform_share {
    char text[PLATFORM_VALUE_MAX];
    double number;
    struct cpuset cpus;
};
void platform_set_shares(struct platform *platform, enum platform_key key, const struct platform_share *shares,
                         size_t n);

// Sets a fact as another platform has it.
void platform_copy(struct platform *platform, enum platform_key key, const struct platform *from);

// Sets what the facts for formulas tell: threads and sockets. Others keep what they have.
void platform_set_environment(struct platform *platform, const struct environment_facts *facts);

bool platform_equal(const struct platform *a, const struct platform *b);

#endif
