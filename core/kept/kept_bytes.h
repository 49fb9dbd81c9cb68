// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_KEPT_KEPT_BYTES_H
#define TOPDOWND_CORE_KEPT_KEPT_BYTES_H

// What outlives the process, as the bytes of a file (core/kept/kept_frame.h). Files of other programs, of later
// versions and damaged ones are refused: whatever the bytes are, they are read within their bounds.
//
// Values within are those of core/recording/recording_bytes.h.

#include "core/diagnosis/kept_verdicts.h"
#include "core/history/kept_history.h"
#include "core/kept/kept_frame.h"

enum { KEPT_VERDICTS_BYTES_MAX = 1 << 17, KEPT_HISTORIES_BYTES_MAX = 4 << 20 };

// Writes a whole file. Returns 0 or -ENOMEM.
int kept_write_verdicts(const struct kept_stamp *stamp, const struct kept_verdicts *verdicts,
                        struct recording_buffer *out);

// Reads one. Returns 0; -ENOMSG: it is no such file; -EPROTO: of a later version; -EBADMSG: it is damaged. The outputs
// are untouched then.
int kept_read_verdicts(const uint8_t *bytes, size_t n, struct kept_stamp *stamp, struct kept_verdicts *verdicts);

// The clock was set since these verdicts were kept: they began at another time of day then. Clocks that are kept in
// time move less than a second, and change nothing.
void kept_follow_clock(struct kept_verdicts *verdicts, const struct kept_stamp *stamp, int64_t wall_offset_ns);

// The same for histories, one after the other: begins a file, appends one that is borrowed as far as there is room for
// it, and ends the file (0 or -ENOMEM).
void kept_begin_histories(struct recording_buffer *out, const struct kept_stamp *stamp);
void kept_put_history(struct recording_buffer *out, const struct kept_history *history);
int kept_end_histories(struct recording_buffer *out);

// As kept_read_verdicts, or -ENOMEM. The caller deinits the histories.
int kept_read_histories(const uint8_t *bytes, size_t n, struct kept_stamp *stamp, struct kept_histories *out);

#endif
