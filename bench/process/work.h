// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_PROCESS_WORK_H
#define TOPDOWND_BENCH_PROCESS_WORK_H

// Makes this a host at work, as those of a data center are: on each CPU a process of the lowest priority goes through
// more memory than a core's own caches hold. A CPU that sleeps between two wake-ups would find all code and data gone
// instead, at a price that depends on what a hypervisor's other guests do meanwhile.

#include <stdbool.h>

// Starts it; it ends with this process. False if the kernel does not let it.
bool work_start(void);

#endif
