// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/kept/kept_bytes.h"

static const char HISTORIES_LINE[] = "topdownd kept histories\n";

// Before each history a 1, and a 0 behind the last one. Before version 2, times were without a sign, nothing was of
// earlier boots, and the kernel's counts of memory were not kept; before version 3 there were no margins.
enum { VALUE_BYTES = 4, TAIL_BYTES = 16, SERIES_BYTES_LEAST = 2, MARK_BYTES_LEAST = 3 };

// ---- what can be read again ----

static bool is_within(int64_t value, int64_t max) { return value >= -max && value <= max; }

static bool is_placed(const struct steps_placed *placed, int64_t step_ns) {
    return is_within(placed->offset_ns, STEPS_OFFSET_MAX) && is_within(placed->last, STEPS_TIME_MAX / step_ns);
}

static bool is_earlier(const struct steps_earlier *earlier, int64_t end_ns) {
    bool boots = earlier->boot_ns == INT64_MAX || earlier->boot_ns <= end_ns;
    return boots && is_within(earlier->end_ns, STEPS_TIME_MAX) && earlier->end_ns <= earlier->boot_ns &&
           is_within(earlier->offset_ns, STEPS_OFFSET_MAX) && is_placed(&earlier->fine, HISTORY_FINE_NS) &&
           is_placed(&earlier->coarse, HISTORY_COARSE_NS);
}

static bool are_times(int64_t begin_ns, int64_t coarse_begin_ns, int64_t end_ns) {
    return is_within(begin_ns, STEPS_TIME_MAX) && is_within(coarse_begin_ns, STEPS_TIME_MAX) &&
           is_within(end_ns, STEPS_TIME_MAX) && begin_ns <= end_ns && coarse_begin_ns <= end_ns;
}

// Within the limits of times: a wall clock that is a century ahead for a while leads beyond them.
static bool is_readable(const struct kept_history *history) {
    for (size_t i = 0; i < marks_count(&history->marks); i++)
        if (!is_within(marks_get(&history->marks, i)->at_ns, STEPS_TIME_MAX))
            return false;
    return are_times(history->begin_ns, history->coarse_begin_ns, history->end_ns) &&
           (!history->earlier.any || is_earlier(&history->earlier, history->end_ns));
}

// ---- writing ----

static void put_values(struct recording_buffer *out, const float *values, size_t n) {
    uint8_t bytes[(HISTORY_FINE_N + HISTORY_COARSE_N) * VALUE_BYTES];
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        for (size_t k = 0; k < VALUE_BYTES; k++)
            bytes[i * VALUE_BYTES + k] = (uint8_t)(bits >> (8 * k));
    }
    bytes_put(out, bytes, n * VALUE_BYTES);
}

static void put_marks(struct recording_buffer *out, const struct marks *marks) {
    bytes_put_varint(out, marks_count(marks));
    for (size_t i = 0; i < marks_count(marks); i++) {
        const struct mark *mark = marks_get(marks, i);
        bytes_put_signed(out, mark->at_ns);
        bytes_put_varint(out, mark->kind);
        bytes_put_text(out, mark->text);
    }
}

void kept_begin_histories(struct recording_buffer *out, const struct kept_stamp *stamp) {
    kept_begin(out, HISTORIES_LINE, stamp);
}

static void put_earlier(struct recording_buffer *out, const struct steps_earlier *earlier) {
    const struct steps_placed *placed[] = {&earlier->fine, &earlier->coarse};
    bytes_put_varint(out, earlier->any);
    if (!earlier->any)
        return;
    bytes_put_signed(out, earlier->boot_ns);
    bytes_put_signed(out, earlier->end_ns);
    bytes_put_signed(out, earlier->offset_ns);
    for (int i = 0; i < 2; i++) {
        bytes_put_signed(out, placed[i]->offset_ns);
        bytes_put_signed(out, placed[i]->last);
    }
}

void kept_put_history(struct recording_buffer *out, const struct kept_history *history) {
    size_t before = out->n;
    if (!is_readable(history))
        return;
    bytes_put_varint(out, 1);
    bytes_put_text(out, history->of);
    bytes_put_varint(out, history->kind);
    bytes_put_signed(out, history->begin_ns);
    bytes_put_signed(out, history->coarse_begin_ns);
    bytes_put_signed(out, history->end_ns);
    put_earlier(out, &history->earlier);
    put_marks(out, &history->marks);
    bytes_put_varint(out, history->n);
    for (size_t i = 0; i < history->n; i++) {
        bytes_put_text(out, history->series[i].name);
        bytes_put_signed(out, history->series[i].of);
        put_values(out, history->series[i].values, history->fine.n + history->coarse.n);
        bytes_put(out, history->series[i].margins, history->fine.n + history->coarse.n);
    }
    if (out->n > KEPT_HISTORIES_BYTES_MAX - TAIL_BYTES)
        out->n = before;
}

int kept_end_histories(struct recording_buffer *out) {
    bytes_put_varint(out, 0);
    return kept_end(out);
}

// ---- reading ----

static void get_values(struct bytes_cursor *in, float *values, size_t n) {
    if ((size_t)(in->end - in->at) < n * VALUE_BYTES) {
        in->bad = true;
        return;
    }
    for (size_t i = 0; i < n; i++, in->at += VALUE_BYTES) {
        uint32_t bits = in->at[0] | (uint32_t)in->at[1] << 8 | (uint32_t)in->at[2] << 16 | (uint32_t)in->at[3] << 24;
        memcpy(&values[i], &bits, sizeof bits);
        if (!isfinite(values[i]))
            values[i] = NAN;
    }
}

static int64_t get_time(struct bytes_cursor *in, unsigned version) {
    int64_t time_ns = version < 2 ? (int64_t)bytes_get_varint(in, STEPS_TIME_MAX) : bytes_get_signed(in);
    in->bad = in->bad || !is_within(time_ns, STEPS_TIME_MAX);
    return in->bad ? 0 : time_ns;
}

static void get_earlier(struct bytes_cursor *in, struct kept_history *history) {
    struct steps_earlier *earlier = &history->earlier;
    struct steps_placed *placed[] = {&earlier->fine, &earlier->coarse};
    earlier->any = bytes_get_varint(in, 1) != 0;
    if (!earlier->any)
        return;
    earlier->boot_ns = bytes_get_signed(in);
    earlier->end_ns = bytes_get_signed(in);
    earlier->offset_ns = bytes_get_signed(in);
    for (int i = 0; i < 2; i++) {
        placed[i]->offset_ns = bytes_get_signed(in);
        placed[i]->last = bytes_get_signed(in);
    }
    in->bad = in->bad || !is_earlier(earlier, history->end_ns);
}

static void get_marks(struct bytes_cursor *in, unsigned version, struct marks *marks) {
    char text[RECORDING_TEXT_MAX + 1];
    size_t n = bytes_get_count(in, MARK_BYTES_LEAST);
    in->bad = in->bad || n > MARKS_MAX;
    for (size_t i = 0; i < n && !in->bad; i++) {
        int64_t at_ns = get_time(in, version);
        enum mark_kind kind = (enum mark_kind)bytes_get_varint(in, MARK_KINDS - 1);
        bytes_get_text(in, text);
        marks_add(marks, at_ns, kind, text);
    }
}

static void get_margins(struct bytes_cursor *in, uint8_t *margins, size_t n) {
    if ((size_t)(in->end - in->at) < n) {
        in->bad = true;
        return;
    }
    memcpy(margins, in->at, n);
    in->at += n;
}

static void get_series(struct bytes_cursor *in, unsigned version, struct kept_history *history) {
    char name[KEPT_NAME_MAX] = "";
    kept_get_text(in, name, sizeof name);
    int64_t of = bytes_get_signed(in);
    const struct kept_series *series = in->bad ? NULL : kept_history_add(history, (long)of, name);
    if (series)
        get_values(in, series->values, history->fine.n + history->coarse.n);
    else
        in->bad = true;
    if (series && version >= 3)
        get_margins(in, series->margins, history->fine.n + history->coarse.n);
}

// NULL: bad, or out of memory.
static struct kept_history *get_history(struct bytes_cursor *in, unsigned version) {
    char of[KEPT_NAME_MAX] = "";
    kept_get_text(in, of, sizeof of);
    enum kept_kind kind = (enum kept_kind)bytes_get_varint(in, KEPT_KINDS - 1);
    int64_t begin_ns = get_time(in, version), coarse_begin_ns = version < 2 ? begin_ns : get_time(in, version),
            end_ns = get_time(in, version);
    bool ends = !in->bad && are_times(begin_ns, coarse_begin_ns, end_ns);
    struct kept_history *history = ends ? kept_history_new(begin_ns, coarse_begin_ns, end_ns) : NULL;
    if (!history)
        return NULL;
    strcpy(history->of, of);
    history->kind = kind;
    if (version >= 2)
        get_earlier(in, history);
    get_marks(in, version, &history->marks);
    size_t n = bytes_get_count(in, SERIES_BYTES_LEAST);
    for (size_t i = 0; i < n && !in->bad; i++)
        get_series(in, version, history);
    return in->bad ? kept_history_free(history) : history;
}

int kept_read_histories(const uint8_t *bytes, size_t n, struct kept_stamp *stamp, struct kept_histories *out) {
    struct kept_stamp of = {.boot = ""};
    struct kept_histories read = {.n = 0};
    struct bytes_cursor in;
    int r = kept_open(bytes, n, HISTORIES_LINE, &of, &in);
    if (r < 0)
        return r;
    while (!in.bad && bytes_get_varint(&in, 1) == 1) {
        struct kept_history *history = get_history(&in, of.version);
        in.bad = in.bad || !history;
        if (history)
            history->meanwhile = of.meanwhile;
        if (history && read.n < KEPT_HISTORIES_MAX)
            read.all[read.n++] = history;
        else
            kept_history_free(history); // the last ones are those that nothing goes on with
    }
    if (!bytes_done(&in)) {
        kept_histories_deinit(&read);
        return -EBADMSG;
    }
    *stamp = of;
    *out = read;
    return 0;
}
