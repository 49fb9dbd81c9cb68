// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_ARRAY_H
#define TOPDOWND_CORE_BASE_ARRAY_H

// Growing arrays. Both functions return the array, which may have moved, or NULL if out of memory; then the array is
// unchanged.

#include <stddef.h>

// Makes room for one more item in an array of `n` that only this function has grown; the room doubles.
void *array_grow(void *array, size_t n, size_t item_size);

// Makes room for `n` items in an array with room for *room; if that is less, at least doubles it.
void *array_reserve(void *array, size_t n, size_t *room, size_t item_size);

#endif
