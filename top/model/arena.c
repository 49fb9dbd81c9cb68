// SPDX-License-Identifier: Apache-2.0
#include "top/model/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"

enum { BLOCK_BYTES = 16384, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, room;
    _Alignas(ALIGNMENT) char bytes[];
};

void *arena_take(struct arena *arena, size_t n, size_t size) {
    if (size > 0 && n > SIZE_MAX / 4 / size)
        return NULL;
    size_t length = (n * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_block *block = arena->blocks;
    if (!block || block->room - block->used < length) {
        size_t room = length > BLOCK_BYTES ? length : BLOCK_BYTES;
        block = calloc(1, sizeof *block + room);
        if (!block)
            return NULL;
        *block = (struct arena_block){.next = arena->blocks, .room = room};
        arena->blocks = block;
        arena->bytes += sizeof *block + room;
    }
    void *taken = block->bytes + block->used;
    block->used += length;
    return taken;
}

// A control character, or one of those that terminals of eight bits obey (U+0080 to U+009F).
static bool is_control(const char *at, size_t length) {
    unsigned char first = (unsigned char)at[0];
    return first < 0x20 || first == 0x7f || (length == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

const char *arena_text(struct arena *arena, const char *text, size_t bytes_max) {
    size_t length = strnlen(text, bytes_max), n = 0;
    char *copy = arena_take(arena, length + 1, 1);
    for (size_t at = 0; copy && at < length;) {
        size_t step = utf8_length(text + at, length - at);
        if (step == 0 || is_control(text + at, step)) {
            copy[n++] = '?';
            at += step > 0 ? step : 1;
            continue;
        }
        memcpy(copy + n, text + at, step);
        n += step;
        at += step;
    }
    return copy;
}

void arena_deinit(struct arena *arena) {
    while (arena->blocks) {
        struct arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->bytes = 0;
}
