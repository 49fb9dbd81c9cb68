// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_MODEL_ARENA_H
#define TOPDOWND_TOP_MODEL_ARENA_H

// Memory that is taken piece by piece and given back at once: what one page said.

#include <stddef.h>

struct arena_block; // private

struct arena {
    struct arena_block *blocks;
    size_t bytes; // of all blocks
};

// Memory that is all zero, until arena_deinit. NULL: there is none, and what was taken before stays.
void *arena_take(struct arena *arena, size_t n, size_t size);

// A copy of a text that a terminal can show: control characters become '?', and it is cut at `bytes_max`. NULL: no
// memory.
const char *arena_text(struct arena *arena, const char *text, size_t bytes_max);

void arena_deinit(struct arena *arena);

#endif
