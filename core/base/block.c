// SPDX-License-Identifier: Apache-2.0
#include "core/base/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Arrays of one block are adjacent, so an overrun of one would silently reach the next. block.c marks gaps between them
// for the address sanitizer.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCK_GAPS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define BLOCK_GAPS
#endif
#ifdef BLOCK_GAPS
enum { GAP = 32 };
void __asan_poison_memory_region(void const volatile *address, size_t size);
static void close_gap(char *from, size_t size) { __asan_poison_memory_region(from, size); }
#else
enum { GAP = 0 };
static void close_gap(char *from, size_t size) { (void)from, (void)size; }
#endif

// A size beyond SIZE_MAX becomes SIZE_MAX, which every allocation refuses.
static size_t add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
static size_t multiply(size_t a, size_t b) { return b > 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

// Where the next array begins, at most BLOCK_LINE - 1 bytes on; while sizes are added up, as far on.
static size_t aligned(const struct block *block, size_t n) {
    size_t rest = block->memory ? (uintptr_t)(block->memory + n) % BLOCK_LINE : 1;
    return rest == 0 ? n : add(n, BLOCK_LINE - rest);
}

void *block_take(struct block *block, size_t n, size_t size) {
    size_t before = block->used, at = aligned(block, add(before, GAP));
    block->used = add(at, multiply(n, size));
    if (!block->memory)
        return NULL;
    close_gap(block->memory + before, at - before);
    return block->memory + at;
}

void *block_new(void *self, size_t size, void (*lay_out)(void *self, struct block *block)) {
    struct block block = {.memory = NULL, .used = size};
    lay_out(self, &block);
    block.memory = block.used < SIZE_MAX ? calloc(1, block.used) : NULL;
    if (!block.memory)
        return NULL;
    block.used = size;
    lay_out(self, &block);
    return memcpy(block.memory, self, size);
}
