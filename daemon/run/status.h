// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_STATUS_H
#define TOPDOWND_DAEMON_RUN_STATUS_H

// The line that `systemctl status` shows: one for the whole host, with a part for each core type.

#include "core/tally/snapshot.h"
#include "daemon/run/summary.h"
#include "daemon/source/source.h"
#include "exporters/view/view.h"

struct status {
    char parts[SOURCE_TYPES_MAX][SUMMARY_LINE_MAX]; // "": the type has had no snapshot yet
    size_t n_types;
    uint64_t due_us;
};

// Takes in a snapshot of a core type. Returns true if the line is to be sent: as soon as a type has had its first
// snapshot, and then once in STATUS_US.
#define STATUS_US UINT64_C(10000000) // systemd tells everybody on its bus of each new status
bool status_take(struct status *status, size_t type, const struct view *view, const struct snapshot *snapshot,
                 uint64_t now_us);

// Writes the line, cut at size - 1.
enum { STATUS_LINE_MAX = SOURCE_TYPES_MAX * SUMMARY_LINE_MAX };
void status_line(const struct status *status, char *out, size_t size);

#endif
