// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_MEMORY_H
#define TOPDOWND_CORE_RECORDING_RECORDING_MEMORY_H

// What the kernel itself counts of memory (core/memory/host_memory.h): a record for each reading of it.

#include "core/memory/host_memory.h"
#include "core/recording/recording.h"

// Appends a record to the buffer. NULL: from here on nothing is read. Returns 0, or -ENOMEM if nothing was added.
int recording_put_memory(struct recording_buffer *out, const struct host_memory *memory);
// Decodes one. The caller owns a reference, or gets NULL as above. 0; -EBADMSG if it is malformed; -ENOMEM.
int recording_get_memory(const struct recording_record *record, struct host_memory **out);

#endif
