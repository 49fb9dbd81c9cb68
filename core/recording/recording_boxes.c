// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "core/recording/recording.h"
#include "core/recording/recording_bytes.h"

// Records of PMUs outside the cores. The record within is whole, with its length and checksum, so that it is written
// and read as one of the cores is.

int recording_put_boxes(struct recording_buffer *out, const char *name, const struct recording_buffer *record) {
    size_t begin = bytes_begin(out, RECORDING_BOXES);
    bytes_put_text(out, name);
    bytes_put(out, record->bytes, record->n);
    return bytes_end(out, begin);
}

int recording_put_gone(struct recording_buffer *out) { return bytes_end(out, bytes_begin(out, RECORDING_GONE)); }

int recording_get_boxes(const struct recording_record *record, char *name, struct recording_record *out) {
    struct bytes_cursor in = {.at = record->bytes, .end = record->bytes + record->n};
    char text[RECORDING_TEXT_MAX + 1];
    struct recording_record within;
    size_t at = 0;
    bytes_get_text(&in, text);
    size_t n = (size_t)(in.end - in.at);
    if (in.bad || text[0] == '\0' || recording_next(in.at, n, &at, &within) <= 0 || at != n ||
        within.kind == RECORDING_BOXES)
        return -EBADMSG;
    memcpy(name, text, sizeof text);
    *out = within;
    return 0;
}
