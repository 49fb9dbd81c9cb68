// SPDX-License-Identifier: Apache-2.0
#include "core/kept/kept_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char VERDICTS_LINE[] = "topdownd kept verdicts\n";

enum { VERDICT_BYTES_LEAST = 21 };

#define SECONDS_MAX 1e11 // no time of day, and no span, is longer

int kept_write_verdicts(const struct kept_stamp *stamp, const struct kept_verdicts *verdicts,
                        struct recording_buffer *out) {
    kept_begin(out, VERDICTS_LINE, stamp);
    bytes_put_varint(out, verdicts->n);
    for (size_t i = 0; i < verdicts->n; i++) {
        const struct kept_verdict *verdict = &verdicts->all[i];
        bytes_put_text(out, verdict->type);
        bytes_put_signed(out, verdict->socket);
        bytes_put_text(out, verdict->metric);
        bytes_put_double(out, verdict->since_seconds);
        bytes_put_double(out, verdict->unwatched_seconds);
        bytes_put_varint(out, verdict->at_least);
        bytes_put_varint(out, verdict->known_ns);
    }
    return kept_end(out);
}

static bool is_span(double seconds) { return seconds >= 0 && seconds <= SECONDS_MAX; } // not NaN

static void get_verdict(struct bytes_cursor *in, struct kept_verdict *out) {
    kept_get_text(in, out->type, sizeof out->type);
    int64_t socket = bytes_get_signed(in);
    kept_get_text(in, out->metric, sizeof out->metric);
    out->since_seconds = bytes_get_double(in);
    out->unwatched_seconds = bytes_get_double(in);
    out->at_least = bytes_get_varint(in, 1) != 0;
    out->known_ns = bytes_get_varint(in, INT64_MAX);
    out->socket = (long)socket;
    in->bad = in->bad || socket < KEPT_HOST || socket > INT32_MAX || !is_span(out->since_seconds) ||
              !is_span(out->unwatched_seconds);
}

int kept_read_verdicts(const uint8_t *bytes, size_t n, struct kept_stamp *stamp, struct kept_verdicts *verdicts) {
    struct kept_stamp of = {.boot = ""};
    struct bytes_cursor in;
    int r = kept_open(bytes, n, VERDICTS_LINE, &of, &in);
    if (r < 0)
        return r;
    struct kept_verdicts *read = calloc(1, sizeof *read);
    if (!read)
        return -ENOMEM;
    read->n = bytes_get_count(&in, VERDICT_BYTES_LEAST);
    in.bad = in.bad || read->n > KEPT_VERDICTS_MAX;
    for (size_t i = 0; i < read->n && !in.bad; i++)
        get_verdict(&in, &read->all[i]);
    bool whole = bytes_done(&in);
    if (whole) {
        *stamp = of;
        *verdicts = *read;
    }
    free(read);
    return whole ? 0 : -EBADMSG;
}

void kept_follow_clock(struct kept_verdicts *verdicts, const struct kept_stamp *stamp, int64_t wall_offset_ns) {
    int64_t step_ns = (int64_t)((uint64_t)wall_offset_ns - (uint64_t)stamp->wall_offset_ns); // wraps: anybody wrote it
    if (step_ns > -STEPS_CLOCK_NS && step_ns < STEPS_CLOCK_NS)
        return;
    for (size_t i = 0; i < verdicts->n; i++)
        verdicts->all[i].since_seconds += (double)step_ns * 1e-9;
}
