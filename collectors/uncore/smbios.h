// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_UNCORE_SMBIOS_H
#define TOPDOWND_COLLECTORS_UNCORE_SMBIOS_H

// What the firmware's tables say of the memory: DMTF DSP0134, System Management BIOS, structure type 17. Linux shows
// the tables in /sys/firmware/dmi/tables/DMI, to root only.

#include <stddef.h>
#include <stdint.h>

struct smbios_memory {
    unsigned devices;     // modules of DRAM that are in a socket
    unsigned width_bytes; // of data that a module transfers at once; the smallest, 0: unknown
    uint64_t transfers;   // per second, as configured; the lowest, 0: unknown
};

// Reads a table; whatever its bytes are, nothing outside of it is read. A table without memory devices gives none.
void smbios_read_memory(const uint8_t *table, size_t length, struct smbios_memory *out);

#endif
