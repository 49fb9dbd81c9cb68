// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_ENVIRONMENT_H
#define TOPDOWND_CORE_HOST_ENVIRONMENT_H

// The host facts that formulas can use: the literals of perf's metric expressions (tools/perf/util/expr.c), the CPU and
// its events. An unknown figure is NaN, which makes every result that needs it NaN too.

#include <stdbool.h>
#include <stddef.h>

enum environment_literal {
    LITERAL_SMT_ON,    // 1: some core runs two threads
    LITERAL_CORE_WIDE, // 1: values are sums over whole cores, all of whose CPUs are measured (topology_whole_cores)
    LITERAL_NUM_CPUS,
    LITERAL_NUM_CPUS_ONLINE,
    LITERAL_NUM_CORES,
    LITERAL_NUM_DIES,
    LITERAL_NUM_PACKAGES,
    LITERAL_SLOTS,           // pipeline slots a cycle, if the PMU states them (Arm: caps/slots)
    LITERAL_SYSTEM_TSC_FREQ, // Hz
    LITERAL_HAS_PMEM,
    LITERAL_N
};

// The plain facts about a host, without callbacks.
struct environment_facts {
    double literals[LITERAL_N];
    char cpuid[64]; // in perf's form: "GenuineIntel-6-8F-4", "0x00000000410fd4f0"; "": not known
};

struct environment {
    struct environment_facts facts;
    // True if the core PMU has an event of this name; NULL: an event exists if the spec has it.
    bool (*has_event)(const void *context, const char *name);
    const void *context;
};

// Sets everything unknown except SMT, which is on as on most x86 servers. For tests, and for specs of other machines'
// CPUs.
void environment_init(struct environment *environment);

// Records which events formulas asked for, with the answers, so that they can be compiled the same way without the PMU.
// Vendors' files ask for a few of the kernel's names; questions beyond ENVIRONMENT_ANSWERS_MAX are not recorded.
enum { ENVIRONMENT_ANSWERS_MAX = 64, ENVIRONMENT_NAME_MAX = 63 };
struct environment_answers {
    struct environment_answer {
        char name[ENVIRONMENT_NAME_MAX + 1];
        bool there;
    } items[ENVIRONMENT_ANSWERS_MAX];
    size_t n;
};

// The context of a has_event that asks another one and records the answer.
struct environment_listener {
    bool (*has_event)(const void *context, const char *name);
    const void *context;
    struct environment_answers *answers;
};
bool environment_listen(const void *listener, const char *name);

// A has_event with such answers as its context; it denies events that nobody asked for before.
bool environment_answer(const void *answers, const char *name);

// The literal of this name, without '#' and in any case; -1 if there is none.
int environment_find_literal(const char *name, size_t length);

// True if `pattern` describes this host's CPU, as in perf's strcmp_cpuid_str. The pattern is a MIDR_EL1 ("0x410fd493":
// this core from that variant and revision on), else an extended regular expression for vendor-family-model[-stepping].
bool environment_is_cpu(const struct environment *environment, const char *pattern);

#endif
