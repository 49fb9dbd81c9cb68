// SPDX-License-Identifier: Apache-2.0
#include "core/base/array.h"

#include <stdint.h>
#include <stdlib.h>

enum { ROOM_FIRST = 4 };

// No object is larger than PTRDIFF_MAX; a sanitizer's allocator would end the program where others return NULL.
static void *array_resize(void *array, size_t room, size_t item_size) {
    return room <= (size_t)PTRDIFF_MAX / item_size ? realloc(array, room * item_size) : NULL;
}

void *array_grow(void *array, size_t n, size_t item_size) {
    if (n > 0 && (n < ROOM_FIRST || (n & (n - 1)) != 0)) // full: 0, 4, 8, 16 ...
        return array;
    return n <= SIZE_MAX / 2 ? array_resize(array, n > 0 ? 2 * n : ROOM_FIRST, item_size) : NULL;
}

void *array_reserve(void *array, size_t n, size_t *room, size_t item_size) {
    if (array && n <= *room)
        return array;
    size_t twice = *room <= SIZE_MAX / 2 ? 2 * *room : 0;
    size_t larger = n < ROOM_FIRST ? ROOM_FIRST : n;
    if (larger < twice)
        larger = twice;
    void *grown = array_resize(array, larger, item_size);
    if (grown)
        *room = larger;
    return grown;
}
