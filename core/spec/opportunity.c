// SPDX-License-Identifier: Apache-2.0
#include "core/spec/opportunity.h"

#include <string.h>

#include "core/spec/catalog.h"

const struct opportunity_info opportunity_table[OPPORTUNITY_N] = {
    [OPPORTUNITY_TEXT_HUGE_PAGES] = {"text_huge_pages", "Huge pages for code",
                                     "The front end waits for address translations of code.",
                                     "Put code and libraries on huge pages: align segments to 2 MiB, remap them at the "
                                     "start, or use CONFIG_READ_ONLY_THP_FOR_FS.",
                                     NULL},
    [OPPORTUNITY_DATA_HUGE_PAGES] = {"data_huge_pages", "Huge pages for data",
                                     "Loads and stores wait for address translations.",
                                     "Use transparent huge pages (madvise or always), hugetlbfs for large buffers, or "
                                     "an allocator that keeps its memory on huge pages.",
                                     NULL},
    [OPPORTUNITY_CODE_LAYOUT] = {"code_layout", "Code layout (PGO, BOLT)",
                                 "The front end does not bring enough operations: cache misses of code, jumps that it "
                                 "does not know, slow decoding.",
                                 "Build with profile-guided optimisation and link-time optimisation, lay the binary "
                                 "out anew with BOLT or Propeller, and put hot code together.",
                                 NULL},
    [OPPORTUNITY_BRANCH_LAYOUT] = {"branch_layout", "Branches that are mispredicted",
                                   "Work is thrown away after mispredicted branches, and the front end starts again.",
                                   "Make hot branches predictable: profile-guided optimisation, sorted or "
                                   "partitioned data, conditional moves, fewer indirect calls.",
                                   NULL},
    [OPPORTUNITY_NUMA_PLACEMENT] = {"numa_placement", "Data on the own socket",
                                    "Loads wait for the memory or the caches of another socket.",
                                    "Bind processes and their memory to one node (numactl, cpusets), or replicate "
                                    "data that all sockets read.",
                                    NULL},
    [OPPORTUNITY_PREFETCHERS] = {"prefetchers", "Prefetching", "Loads wait for the last-level cache or for memory.",
                                 "Prefetch in software where addresses are known early; try the hardware prefetchers' "
                                 "switches.",
                                 "Whether prefetchers help or take bandwidth from others, only a trial with them on "
                                 "and off tells, most of all where memory is near its peak bandwidth."},
    [OPPORTUNITY_WORKING_SET] = {"working_set", "A smaller working set", "Loads wait for what the nearest cache lacks.",
                                 "Block loops for the caches, make hot structures smaller and denser, and keep what "
                                 "is used together on one line.",
                                 NULL},
    [OPPORTUNITY_VECTORISE] = {"vectorise", "Vector instructions", "Floating-point work is done one number at a time.",
                               "Let the compiler vectorise hot loops (restrict, aligned arrays, -O3, the CPU's own "
                               "architecture), or use a library that does.",
                               NULL},
    [OPPORTUNITY_LOCKS] = {"locks", "Locks and shared lines",
                           "CPUs wait for locked operations and for lines that other CPUs have changed.",
                           "Shard locks and counters, keep what different threads write on lines of their own, and "
                           "batch what is done below a lock.",
                           NULL},
    [OPPORTUNITY_SMT] = {"smt", "Threads on idle siblings",
                         "Slots stay empty that another thread of the core could use.",
                         "Give the core more threads, or turn SMT on.",
                         "Threads of a core also share its caches and units: only a trial tells how much of the "
                         "bound is won, or whether something is lost."},
};

enum opportunity opportunity_of(const struct catalog_metric *metric) {
    static const char prefix[] = "opportunity_", suffix[] = "_ratio";
    const char *name = metric->export_name;
    enum opportunity action = 0;
    if (metric->domain != METRIC_PIPELINE_SLOTS || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return OPPORTUNITY_N;
    name += sizeof prefix - 1;
    while (action < OPPORTUNITY_N) {
        size_t length = strlen(opportunity_table[action].name);
        if (strncmp(name, opportunity_table[action].name, length) == 0 && strcmp(name + length, suffix) == 0)
            break;
        action++;
    }
    return action;
}
