// SPDX-License-Identifier: Apache-2.0
#include "core/kept/kept_frame.h"

#include <errno.h>
#include <string.h>

#include "core/base/crc32.h"

enum { VERSION = 1, CHECKSUM_BYTES = 4 };

void kept_begin(struct recording_buffer *out, const char *line, const struct kept_stamp *stamp) {
    out->n = 0;
    out->failed = false;
    bytes_put(out, line, strlen(line));
    bytes_put_varint(out, VERSION);
    bytes_put_text(out, stamp->boot);
    bytes_put_text(out, stamp->origin);
    bytes_put_signed(out, stamp->wall_offset_ns);
}

int kept_end(struct recording_buffer *out) {
    uint32_t crc = out->failed ? 0 : crc32_of(out->bytes, out->n);
    uint8_t tail[CHECKSUM_BYTES];
    for (int i = 0; i < CHECKSUM_BYTES; i++)
        tail[i] = (uint8_t)(crc >> (8 * i));
    bytes_put(out, tail, sizeof tail);
    return out->failed ? -ENOMEM : 0;
}

void kept_get_text(struct bytes_cursor *in, char *out, size_t size) {
    char text[RECORDING_TEXT_MAX + 1];
    bytes_get_text(in, text);
    in->bad = in->bad || strlen(text) >= size;
    if (!in->bad)
        strcpy(out, text);
}

static bool is_intact(const uint8_t *bytes, size_t n) {
    uint32_t crc = crc32_of(bytes, n - CHECKSUM_BYTES);
    for (int i = 0; i < CHECKSUM_BYTES; i++)
        if (bytes[n - CHECKSUM_BYTES + (size_t)i] != (uint8_t)(crc >> (8 * i)))
            return false;
    return true;
}

// A later version may have another checksum, so the version comes first.
int kept_open(const uint8_t *bytes, size_t n, const char *line, struct kept_stamp *stamp, struct bytes_cursor *in) {
    size_t length = strlen(line);
    if (n < length || memcmp(bytes, line, length) != 0)
        return -ENOMSG;
    *in = (struct bytes_cursor){.at = bytes + length, .end = bytes + n};
    uint64_t version = bytes_get_varint(in, UINT64_MAX);
    if (!in->bad && version > VERSION)
        return -EPROTO;
    if (in->bad || version < 1 || (size_t)(in->end - in->at) < CHECKSUM_BYTES || !is_intact(bytes, n))
        return -EBADMSG;
    in->end -= CHECKSUM_BYTES;
    kept_get_text(in, stamp->boot, sizeof stamp->boot);
    kept_get_text(in, stamp->origin, sizeof stamp->origin);
    stamp->wall_offset_ns = bytes_get_signed(in);
    return in->bad ? -EBADMSG : 0;
}
