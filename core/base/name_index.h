// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_NAME_INDEX_H
#define TOPDOWND_CORE_BASE_NAME_INDEX_H

// Finds things by name among thousands: a hash table from names, which are borrowed, to numbers. Names that differ in
// case alone are told apart, and can be looked up either way.

#include <stdbool.h>
#include <stddef.h>

struct name_index {
    struct name_entry {
        const char *name; // NULL: free
        unsigned number, hash;
    } * entries;
    size_t n, capacity; // a power of two, never more than half full
};

int name_index_add(struct name_index *index, const char *name, unsigned number); // 0, -ENOMEM
int name_index_make_room(struct name_index *index); // the next addition cannot fail; 0, -ENOMEM
// Makes room for n names at once, in an empty index.
int name_index_reserve(struct name_index *index, size_t n); // 0, -ENOMEM
// The number that the name has without regard to case; where it has none, it is added with `number`. -ENOMEM.
int name_index_find_or_add(struct name_index *index, const char *name, unsigned number);
void name_index_deinit(struct name_index *index);

// The number of the name; where the case does not matter, that of the first one added. -1 where there is none.
int name_index_find(const struct name_index *index, const char *name, size_t length, bool any_case);

#endif
