// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/uncore/smbios.h"

// Any bytes are a firmware's table; nothing outside of it is read.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct smbios_memory memory;
    uint8_t *own = malloc(size > 0 ? size : 1); // as long as the table, so that the sanitizer sees a byte too far
    if (!own)
        return 0;
    if (size > 0)
        memcpy(own, data, size);
    smbios_read_memory(own, size, &memory);
    assert(memory.devices > 0 || (memory.width_bytes == 0 && memory.transfers == 0));
    assert(memory.devices <= size / 4 && memory.width_bytes < 8192);
    free(own);
    return 0;
}
