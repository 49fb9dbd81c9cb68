// SPDX-License-Identifier: Apache-2.0
#include "core/kept/kept_frame.h"

#include <errno.h>
#include <string.h>

#include "core/base/crc32.h"

enum { VERSION = 3, CHECKSUM_BYTES = 4 };

void kept_begin(struct recording_buffer *out, const char *line, const struct kept_stamp *stamp) {
    out->n = 0;
    out->failed = false;
    bytes_put(out, line, strlen(line));
    bytes_put_varint(out, VERSION);
    bytes_put_text(out, stamp->boot);
    bytes_put_text(out, stamp->origin);
    bytes_put_text(out, stamp->host);
    bytes_put_text(out, stamp->cpu);
    bytes_put_varint(out, stamp->meanwhile);
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
    if (version >= 2) {
        kept_get_text(in, stamp->host, sizeof stamp->host);
        kept_get_text(in, stamp->cpu, sizeof stamp->cpu);
        stamp->meanwhile = bytes_get_varint(in, 1) != 0;
    }
    stamp->wall_offset_ns = bytes_get_signed(in);
    stamp->version = (unsigned)version;
    return in->bad ? -EBADMSG : 0;
}

static bool is_known(const char *a) { return a[0] != '\0'; }

// A boot has one host and one CPU, so that what is not known of these is no doubt within it.
enum kept_relation kept_relation(const struct kept_stamp *of, const struct kept_stamp *now) {
    if (!is_known(of->boot) || !is_known(now->boot) || strcmp(of->origin, now->origin) != 0)
        return KEPT_OTHERS;
    bool same_cpu = strcmp(of->cpu, now->cpu) == 0;
    if (strcmp(of->boot, now->boot) == 0)
        return same_cpu || of->version < 2 ? KEPT_THIS_BOOT : KEPT_OTHERS;
    return same_cpu && is_known(of->host) && strcmp(of->host, now->host) == 0 ? KEPT_EARLIER_BOOT : KEPT_OTHERS;
}
