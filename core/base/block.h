// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_BLOCK_H
#define TOPDOWND_CORE_BASE_BLOCK_H

// A struct and all its arrays in one block of memory, which one free() gives back.
//
// A type that is made so has one function that names its arrays, `lay_out`, which calls block_take for each of them.
// block_new calls it twice: first only to add up their sizes, then to hand out the memory.

#include <stddef.h>

struct block {
    char *memory; // NULL while sizes are added up
    size_t used;
};

// Room for n elements of `size` bytes, all zero, aligned for every type. NULL while sizes are added up.
void *block_take(struct block *block, size_t n, size_t size);

// A copy of the struct `self` of `size` bytes, with its arrays behind it. lay_out(self, block) sets the pointers in
// `self`; what it needs to know of numbers of elements is in `self` before. NULL where memory is short.
void *block_new(void *self, size_t size, void (*lay_out)(void *self, struct block *block));

#endif
