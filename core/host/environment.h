// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_HOST_ENVIRONMENT_H
#define TOPDOWND_CORE_HOST_ENVIRONMENT_H

// What formulas may ask of the host: the literals of perf's metric expressions (tools/perf/util/expr.c), and which CPU
// and which events it has. A figure that is not known is NaN, which makes what needs it NaN, too.

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
    LITERAL_SLOTS,           // pipeline slots a cycle, where the PMU says so (Arm: caps/slots)
    LITERAL_SYSTEM_TSC_FREQ, // Hz
    LITERAL_HAS_PMEM,
    LITERAL_N
};

// What a host is, without any way to ask it more.
struct environment_facts {
    double literals[LITERAL_N];
    char cpuid[64]; // as perf writes it: "GenuineIntel-6-8F-4", "0x00000000410fd4f0"; "": not known
};

struct environment {
    struct environment_facts facts;
    // True where the core PMU has an event of this name; NULL: an event is there if the spec has it.
    bool (*has_event)(const void *context, const char *name);
    const void *context;
};

// Nothing known but that there is SMT, as on most x86 servers: for tests, and for specs of CPUs that are not here.
void environment_init(struct environment *environment);

// Which events were asked for, with the answers: so that formulas can be compiled the same way where the PMU is not.
// Vendors' files ask for a few of the kernel's names; what is beyond ENVIRONMENT_ANSWERS_MAX is not noted.
enum { ENVIRONMENT_ANSWERS_MAX = 64, ENVIRONMENT_NAME_MAX = 63 };
struct environment_answers {
    struct environment_answer {
        char name[ENVIRONMENT_NAME_MAX + 1];
        bool there;
    } items[ENVIRONMENT_ANSWERS_MAX];
    size_t n;
};

// A has_event that asks another one and notes the answer; its context.
struct environment_listener {
    bool (*has_event)(const void *context, const char *name);
    const void *context;
    struct environment_answers *answers;
};
bool environment_listen(const void *listener, const char *name);

// A has_event whose context are such answers; an event that was not asked for is not there.
bool environment_answer(const void *answers, const char *name);

// The literal of this name, without '#' and in any case; -1 where there is none.
int environment_find_literal(const char *name, size_t length);

// perf's strcmp_cpuid_str: whether this host's CPU is the one that `pattern` describes: a MIDR_EL1 ("0x410fd493": this
// core from that variant and revision on), else an extended regular expression for vendor-family-model[-stepping].
bool environment_is_cpu(const struct environment *environment, const char *pattern);

#endif
