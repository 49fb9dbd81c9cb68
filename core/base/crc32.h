// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_CRC32_H
#define TOPDOWND_CORE_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

// CRC-32 as in zip and Ethernet (ISO 3309; zlib's crc32). It does not use zlib, because recordings are also framed and
// checked in memory, and core uses no library.
uint32_t crc32_of(const uint8_t *bytes, size_t n);

#endif
