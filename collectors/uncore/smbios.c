// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/smbios.h"

#include <stdbool.h>

enum { HEADER_BYTES = 4, END_OF_TABLE = 127, MEMORY_DEVICE = 17 };

// Offsets in a structure of type 17. Older tables end earlier.
enum {
    DATA_WIDTH = 0x0A,
    SIZE = 0x0C,
    TYPE = 0x12,
    CONFIGURED_SPEED = 0x20,
    TECHNOLOGY = 0x28,
    EXTENDED_CONFIGURED_SPEED = 0x58,
    UNKNOWN = 0xFFFF, // of a word: its meaning depends on the field
    TECHNOLOGY_UNKNOWN = 2,
    TECHNOLOGY_DRAM = 3,
    TYPE_HBM = 0x20,
    TYPE_HBM2 = 0x21,
    TYPE_HBM3 = 0x24
};

struct structure {
    const uint8_t *bytes;
    size_t length; // of the formatted part
};

// 0 beyond the structure's end, which means unknown in every field.
static unsigned byte_at(const struct structure *s, size_t offset) { return offset < s->length ? s->bytes[offset] : 0; }

static unsigned word_at(const struct structure *s, size_t offset) {
    return offset + 1 < s->length ? byte_at(s, offset) | byte_at(s, offset + 1) << 8 : 0;
}

static uint64_t dword_at(const struct structure *s, size_t offset) {
    return offset + 3 < s->length ? word_at(s, offset) | (uint64_t)word_at(s, offset + 2) << 16 : 0;
}

// Takes the structure at *offset and moves behind its texts, which end with two zero bytes. False at the table's end.
static bool next(const uint8_t *table, size_t length, size_t *offset, struct structure *out) {
    size_t at = *offset;
    if (length - at < HEADER_BYTES || table[at] == END_OF_TABLE || table[at + 1] < HEADER_BYTES ||
        table[at + 1] > length - at)
        return false;
    *out = (struct structure){.bytes = table + at, .length = table[at + 1]};
    at += out->length;
    while (at + 1 < length && (table[at] != 0 || table[at + 1] != 0))
        at++;
    *offset = at + 1 < length ? at + 2 : length;
    return true;
}

// True for modules of DRAM: one of persistent memory has another speed, and shares the channel; HBM is in the package.
static bool is_dram(const struct structure *s) {
    unsigned technology = byte_at(s, TECHNOLOGY), type = byte_at(s, TYPE);
    if (type == TYPE_HBM || type == TYPE_HBM2 || type == TYPE_HBM3)
        return false;
    return technology == 0 || technology == TECHNOLOGY_UNKNOWN || technology == TECHNOLOGY_DRAM;
}

static uint64_t configured_transfers(const struct structure *s) {
    unsigned speed = word_at(s, CONFIGURED_SPEED);
    uint64_t millions = speed == UNKNOWN ? dword_at(s, EXTENDED_CONFIGURED_SPEED) & INT32_MAX : speed;
    return millions * 1000000;
}

static void add_device(const struct structure *s, struct smbios_memory *memory) {
    if (word_at(s, SIZE) == 0 || !is_dram(s)) // an empty socket
        return;
    unsigned width = word_at(s, DATA_WIDTH) == UNKNOWN ? 0 : word_at(s, DATA_WIDTH) / 8;
    uint64_t transfers = configured_transfers(s);
    if (memory->devices == 0 || width < memory->width_bytes)
        memory->width_bytes = width;
    if (memory->devices == 0 || transfers < memory->transfers)
        memory->transfers = transfers;
    memory->devices++;
}

void smbios_read_memory(const uint8_t *table, size_t length, struct smbios_memory *out) {
    struct structure structure;
    size_t offset = 0;
    *out = (struct smbios_memory){0};
    while (offset < length && next(table, length, &offset, &structure))
        if (structure.bytes[0] == MEMORY_DEVICE)
            add_device(&structure, out);
}
