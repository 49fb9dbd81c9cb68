// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_KEPT_KEPT_FRAME_H
#define TOPDOWND_CORE_KEPT_KEPT_FRAME_H

// What every file of core/kept/ has around its content: a line that names the format, its version, a stamp that says of
// which host and boot it is; and behind it a checksum over all of these.

#include "core/recording/recording_bytes.h"

enum { KEPT_STAMP_MAX = 64, KEPT_HOST_MAX = 256 };

// What is not known is "".
struct kept_stamp {
    unsigned version;            // of the file that was read
    char boot[KEPT_STAMP_MAX];   // the kernel's identifier of the boot, on which the monotonic clock depends
    char origin[KEPT_STAMP_MAX]; // what was measured: "host", or the simulated host
    char host[KEPT_HOST_MAX];    // which host that was; since version 2
    char cpu[KEPT_HOST_MAX];     // its CPU; since version 2
    int64_t wall_offset_ns;      // between the monotonic clock and the epoch, when it was written
    bool meanwhile;              // what wrote it went on, and may have seen more; since version 2
};

// Whose a file is, for what measures now.
enum kept_relation {
    KEPT_OTHERS,       // of another host, as of one that this one was copied from; of another CPU; or that is not known
    KEPT_EARLIER_BOOT, // of this host, before it booted
    KEPT_THIS_BOOT
};
enum kept_relation kept_relation(const struct kept_stamp *of, const struct kept_stamp *now);

// Begins a file in an emptied buffer, and ends it. Returns 0 or -ENOMEM.
void kept_begin(struct recording_buffer *out, const char *line, const struct kept_stamp *stamp);
int kept_end(struct recording_buffer *out);

// Reads up to the content, which is then all that is left. Returns 0; -ENOMSG: it is no such file; -EPROTO: of a later
// version; -EBADMSG: it is damaged.
int kept_open(const uint8_t *bytes, size_t n, const char *line, struct kept_stamp *stamp, struct bytes_cursor *in);

// Reads a text; a longer one than there is room for is bad.
void kept_get_text(struct bytes_cursor *in, char *out, size_t size);

#endif
