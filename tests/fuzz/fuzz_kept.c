// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32.h"
#include "core/kept/kept_bytes.h"

// Any bytes are the file of what outlives the process: as they are, and with a checksum that is right, so that what is
// behind it is reached. What is taken is written again as the same verdicts.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Goes on with it in a process of this boot or of another one, in which the wall clock is set.
static void go_on(const struct kept_history *kept, int64_t now_ns, int64_t wall_offset_ns) {
    struct steps steps;
    if (kept->end_ns > now_ns || steps_init(&steps, KEPT_SERIES_MAX) < 0)
        return;
    steps_widen(&steps, kept->n);
    if (steps_go(&steps, (uint64_t)now_ns)) {
        kept_history_go_on(kept, now_ns, &steps);
        for (size_t i = 0; i < kept->n; i++) {
            size_t place = steps_make(&steps, kept->series[i].of, kept->series[i].name);
            if (place != SIZE_MAX)
                kept_history_put(kept, &kept->series[i], 1, &steps, place);
        }
        for (int i = -1; i <= 1; i++) {
            (void)steps_follow_clock(&steps, wall_offset_ns + i * INT64_C(4567000000000));
            (void)steps_go(&steps, (uint64_t)now_ns + (uint64_t)(i + 2) * 1000000000000);
        }
    }
    steps_deinit(&steps);
}

static void boot(const struct kept_history *kept, int64_t offset_ns) {
    const int64_t now_ns = INT64_C(40000000000), now_offset_ns = INT64_C(1790000000000000000);
    struct kept_history *moved = kept_history_reboot(kept, offset_ns, now_offset_ns, now_ns);
    if (moved) {
        assert(moved->end_ns <= now_ns && moved->n == kept->n);
        go_on(moved, now_ns, now_offset_ns);
    }
    kept_history_free(moved);
    go_on(kept, INT64_C(4000000000000000), now_offset_ns);
}

static void read_histories(const uint8_t *bytes, size_t n) {
    struct kept_stamp stamp;
    struct kept_histories histories = {.n = 0}, again = {.n = 0};
    struct recording_buffer out = {0};
    if (kept_read_histories(bytes, n, &stamp, &histories) == 0) {
        kept_begin_histories(&out, &stamp);
        for (size_t i = 0; i < histories.n; i++) {
            kept_put_history(&out, histories.all[i]);
            boot(histories.all[i], stamp.wall_offset_ns);
        }
        if (kept_end_histories(&out) == 0) {
            int r = kept_read_histories(out.bytes, out.n, &stamp, &again);
            assert(r == 0 && again.n == histories.n);
        }
    }
    recording_buffer_deinit(&out);
    kept_histories_deinit(&again);
    kept_histories_deinit(&histories);
}

static void read_file(const uint8_t *bytes, size_t n) {
    struct kept_stamp stamp;
    struct kept_verdicts *verdicts = calloc(1, sizeof *verdicts), *again = calloc(1, sizeof *again);
    struct recording_buffer out = {0};
    if (verdicts && again && kept_read_verdicts(bytes, n, &stamp, verdicts) == 0 &&
        kept_write_verdicts(&stamp, verdicts, &out) == 0) {
        int r = kept_read_verdicts(out.bytes, out.n, &stamp, again);
        assert(r == 0 && again->n == verdicts->n);
    }
    recording_buffer_deinit(&out);
    free(again);
    free(verdicts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *own = malloc(size + 4);
    if (!own)
        return 0;
    if (size > 0)
        memcpy(own, data, size);
    read_file(own, size);
    read_histories(own, size);
    uint32_t crc = crc32_of(own, size);
    for (int i = 0; i < 4; i++)
        own[size + (size_t)i] = (uint8_t)(crc >> (8 * i));
    read_file(own, size + 4);
    read_histories(own, size + 4);
    free(own);
    return 0;
}
