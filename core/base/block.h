// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_BLOCK_H
#define TOPDOWND_CORE_BASE_BLOCK_H

// Puts a struct and all its arrays in one block of memory, which one free() releases.
//
// Each such type has a function `lay_out` that calls block_take for each of its arrays. block_new calls it twice: first
// to add up the sizes, then to hand out the memory.

#include <stddef.h>

enum { BLOCK_LINE = 64 }; // a cache line: each array begins at one, so that lanes (core/base/lanes.h) touch one each

struct block {
    char *memory; // NULL while sizes are added up
    size_t used;
};

// Takes room for n elements of `size` bytes, all zero, from a cache line on. NULL while sizes are added up.
void *block_take(struct block *block, size_t n, size_t size);

// Returns a copy of the struct `self` of `size` bytes, followed by its arrays. lay_out(self, block) sets the pointers
// in `self`, which already contains the numbers of elements that it needs. NULL if out of memory.
void *block_new(void *self, size_t size, void (*lay_out)(void *self, struct block *block));

#endif
