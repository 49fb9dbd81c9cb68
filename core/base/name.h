// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_NAME_H
#define TOPDOWND_CORE_BASE_NAME_H

// Compares names: Topdown_L1, TopdownL1 and topdown-l1 are one metric group.

#include <stdbool.h>
#include <stddef.h>

// Writes `name` in lower case without '_' and '-'; cuts at size - 1.
void name_fold(const char *name, char *out, size_t size);

// True if both names fold to the same text.
bool name_equal(const char *a, const char *b);

#endif
