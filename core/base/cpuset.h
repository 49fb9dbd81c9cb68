// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_CPUSET_H
#define TOPDOWND_CORE_BASE_CPUSET_H

// A set of CPU numbers, written in the kernel's list format: "0-3,8".

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPUSET_MAX = 8192 };

struct cpuset {
    uint64_t words[CPUSET_MAX / 64];
};

// Reads a list such as "0-3,8" (a trailing newline is allowed, an empty list is the empty set). -EINVAL if it is not a
// list, -ERANGE if a number reaches CPUSET_MAX; *out is untouched then.
int cpuset_parse(const char *text, struct cpuset *out);

void cpuset_add(struct cpuset *set, unsigned cpu);
bool cpuset_has(const struct cpuset *set, unsigned cpu);
size_t cpuset_count(const struct cpuset *set);
bool cpuset_is_empty(const struct cpuset *set);

// The lowest CPU of the set from `cpu` on; CPUSET_MAX: none. Sets have few CPUs of the most that there may be, so this
// goes over words.
unsigned cpuset_next(const struct cpuset *set, unsigned cpu);

// Writes the set as a list; if it does not fit, the list ends in "...". `size` is at least 8.
void cpuset_format(const struct cpuset *set, char *list, size_t size);

#endif
