// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
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

// ---- what the events are, before version 6 ----

int recording_get_definition(const struct recording_record *record, struct recording_definition *out) {
    enum { EVENT_BYTES_LEAST = 10 };
    struct bytes_cursor in = {.at = record->bytes, .end = record->bytes + record->n};
    size_t n = bytes_get_count(&in, EVENT_BYTES_LEAST);
    struct recording_definition read = {.events = in.bad ? NULL : calloc(n + 1, sizeof *read.events)};
    if (!read.events)
        return in.bad ? -EBADMSG : -ENOMEM;
    for (; read.n < n && !in.bad; read.n++) {
        struct recording_event *event = &read.events[read.n];
        bytes_get_text(&in, event->name);
        bytes_get_text(&in, event->units);
        event->factor = bytes_get_double(&in);
        in.bad = in.bad || event->name[0] == '\0' || !(event->factor > 0 && event->factor < HUGE_VAL);
    }
    if (!bytes_done(&in)) {
        recording_definition_deinit(&read);
        return -EBADMSG;
    }
    *out = read;
    return 0;
}

void recording_definition_deinit(struct recording_definition *definition) {
    free(definition->events);
    *definition = (struct recording_definition){.n = 0};
}

// ---- a record within a record ----

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
