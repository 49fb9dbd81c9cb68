// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_ARRAY_H
#define TOPDOWND_CORE_BASE_ARRAY_H

// Arrays that grow. Both functions return the array, which may have moved, or NULL where memory is short: the array is
// as it was then.

#include <stddef.h>

// Room for one more item in an array of `n`, whose room only this function has made: it doubles.
void *array_grow(void *array, size_t n, size_t item_size);

// Room for `n` items in an array that has room for *room; at least doubles it where that is less.
void *array_reserve(void *array, size_t n, size_t *room, size_t item_size);

#endif
