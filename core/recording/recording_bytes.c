// SPDX-License-Identifier: Apache-2.0
#include "core/recording/recording_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/crc32.h"

// A record is a kind (a byte), the content's length (four bytes, little-endian), the content, and a checksum over all
// of these (CRC-32 as in zip and Ethernet, four bytes, little-endian).

enum { FRAME_HEAD = 5, FRAME_TAIL = 4 };

static uint32_t read_u32(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static void write_u32(uint8_t *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

// ---- writing ----

void bytes_put(struct recording_buffer *out, const void *bytes, size_t n) {
    uint8_t *grown = array_reserve(out->bytes, out->n + n, &out->size, 1);
    if (!grown) {
        out->failed = true;
        return;
    }
    out->bytes = grown;
    memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

void bytes_put_varint(struct recording_buffer *out, uint64_t value) {
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    bytes_put(out, bytes, n);
}

void bytes_put_signed(struct recording_buffer *out, int64_t value) {
    bytes_put_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0)); // small values of both signs stay short
}

void bytes_put_double(struct recording_buffer *out, double value) {
    uint64_t bits;
    uint8_t bytes[8];
    memcpy(&bits, &value, sizeof bits);
    write_u32(bytes, (uint32_t)bits);
    write_u32(bytes + 4, (uint32_t)(bits >> 32));
    bytes_put(out, bytes, sizeof bytes);
}

void bytes_put_text(struct recording_buffer *out, const char *text) {
    char clean[RECORDING_TEXT_MAX];
    size_t n = strnlen(text, sizeof clean);
    for (size_t i = 0; i < n; i++) // readers refuse control characters
        clean[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? '?' : text[i];
    bytes_put_varint(out, n);
    bytes_put(out, clean, n);
}

size_t bytes_begin(struct recording_buffer *out, enum recording_kind kind) {
    size_t begin = out->n;
    const uint8_t head[FRAME_HEAD] = {(uint8_t)kind};
    out->failed = false;
    bytes_put(out, head, sizeof head);
    return begin;
}

int bytes_end(struct recording_buffer *out, size_t begin) {
    uint8_t tail[FRAME_TAIL];
    if (!out->failed && out->n - begin - FRAME_HEAD <= RECORDING_RECORD_MAX) {
        write_u32(out->bytes + begin + 1, (uint32_t)(out->n - begin - FRAME_HEAD));
        write_u32(tail, crc32_of(out->bytes + begin, out->n - begin));
        bytes_put(out, tail, sizeof tail);
        if (!out->failed)
            return 0;
    }
    out->n = begin;
    return -ENOMEM;
}

void recording_buffer_deinit(struct recording_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct recording_buffer){0};
}

// ---- reading ----

int recording_next(const uint8_t *bytes, size_t n, size_t *at, struct recording_record *out) {
    size_t left = n - *at;
    if (left == 0)
        return 0;
    const uint8_t *record = bytes + *at;
    if (left < FRAME_HEAD)
        return -ENODATA;
    size_t length = read_u32(record + 1);
    if (length > RECORDING_RECORD_MAX)
        return -EBADMSG;
    if (left < FRAME_HEAD + length + FRAME_TAIL)
        return -ENODATA;
    if (crc32_of(record, FRAME_HEAD + length) != read_u32(record + FRAME_HEAD + length))
        return -EBADMSG;
    *out = (struct recording_record){.kind = record[0], .bytes = record + FRAME_HEAD, .n = length};
    *at += FRAME_HEAD + length + FRAME_TAIL;
    return 1;
}

static uint64_t bad(struct bytes_cursor *in) {
    in->bad = true;
    in->at = in->end;
    return 0;
}

uint64_t bytes_get_varint(struct bytes_cursor *in, uint64_t max) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->end)
            return bad(in);
        uint8_t byte = *in->at++;
        if (shift == 63 && byte > 1)
            return bad(in);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value <= max ? value : bad(in);
    }
    return bad(in);
}

int64_t bytes_get_signed(struct bytes_cursor *in) {
    uint64_t value = bytes_get_varint(in, UINT64_MAX);
    return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

double bytes_get_double(struct bytes_cursor *in) {
    double value = 0;
    if (in->end - in->at < 8) {
        bad(in);
        return 0;
    }
    uint64_t bits = read_u32(in->at) | (uint64_t)read_u32(in->at + 4) << 32;
    memcpy(&value, &bits, sizeof value);
    in->at += 8;
    return value;
}

void bytes_get_text(struct bytes_cursor *in, char *out) {
    size_t n = (size_t)bytes_get_varint(in, RECORDING_TEXT_MAX);
    out[0] = '\0';
    if ((size_t)(in->end - in->at) < n) {
        bad(in);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (in->at[i] < ' ' || in->at[i] == 0x7f) {
            bad(in);
            return;
        }
    }
    memcpy(out, in->at, n);
    out[n] = '\0';
    in->at += n;
}

size_t bytes_get_count(struct bytes_cursor *in, size_t least) {
    uint64_t n = bytes_get_varint(in, UINT64_MAX);
    return n <= (uint64_t)(in->end - in->at) / least ? (size_t)n : (size_t)bad(in);
}

bool bytes_done(const struct bytes_cursor *in) { return !in->bad && in->at == in->end; }
