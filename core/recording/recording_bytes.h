// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_RECORDING_RECORDING_BYTES_H
#define TOPDOWND_CORE_RECORDING_RECORDING_BYTES_H

// The bytes of a recording: numbers and texts, and the frame around each record (docs/recording.md). This file does not
// know their meaning.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/recording/recording.h"

// Writing. Running out of memory sets out->failed.
void bytes_put(struct recording_buffer *out, const void *bytes, size_t n); // as they are
void bytes_put_varint(struct recording_buffer *out, uint64_t value);
void bytes_put_signed(struct recording_buffer *out, int64_t value);
void bytes_put_double(struct recording_buffer *out, double value);
void bytes_put_text(struct recording_buffer *out, const char *text); // cut at RECORDING_TEXT_MAX bytes

// Begins a record, which bytes_end ends; returns its start.
size_t bytes_begin(struct recording_buffer *out, enum recording_kind kind);
// Returns 0, or -ENOMEM after removing the record.
int bytes_end(struct recording_buffer *out, size_t begin);

// Reading. A missing or out-of-bounds value sets `bad` and reads as 0 or "".
struct bytes_cursor {
    const uint8_t *at, *end;
    bool bad;
};
uint64_t bytes_get_varint(struct bytes_cursor *in, uint64_t max);
int64_t bytes_get_signed(struct bytes_cursor *in);
double bytes_get_double(struct bytes_cursor *in);
// At most RECORDING_TEXT_MAX bytes, without control characters; `out` has one byte more.
void bytes_get_text(struct bytes_cursor *in, char *out);
// The number of elements that follow, each of at least `least` bytes.
size_t bytes_get_count(struct bytes_cursor *in, size_t least);
// True if everything has been read and nothing was bad.
bool bytes_done(const struct bytes_cursor *in);

#endif
