// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_HASH_H
#define TOPDOWND_CORE_BASE_HASH_H

// 64-bit FNV-1a (draft-eastlake-fnv): start with hash = HASH_BEGIN, then add byte by byte.

#include <stddef.h>
#include <stdint.h>

#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_byte(uint64_t hash, uint8_t byte) { return (hash ^ byte) * UINT64_C(0x100000001b3); }

static inline uint64_t hash_bytes(uint64_t hash, const void *data, size_t length) {
    for (const uint8_t *byte = data; length > 0; byte++, length--)
        hash = hash_byte(hash, *byte);
    return hash;
}

#endif
