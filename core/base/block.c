// SPDX-License-Identifier: Apache-2.0
#include "core/base/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A size beyond SIZE_MAX becomes SIZE_MAX, which every allocation refuses.
static size_t add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }
static size_t multiply(size_t a, size_t b) { return b > 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b; }

static size_t aligned(size_t n) {
    size_t rest = n % _Alignof(max_align_t);
    return rest == 0 || n == SIZE_MAX ? n : add(n, _Alignof(max_align_t) - rest);
}

void *block_take(struct block *block, size_t n, size_t size) {
    size_t at = aligned(block->used);
    block->used = add(at, multiply(n, size));
    return block->memory ? block->memory + at : NULL;
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
