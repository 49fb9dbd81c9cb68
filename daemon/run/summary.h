// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SUMMARY_H
#define TOPDOWND_DAEMON_RUN_SUMMARY_H

// The daemon's description of itself in a few lines: at start, in its systemd status, and for check-config.

#include "daemon/source/setup.h"

enum { SUMMARY_LINE_MAX = 512 };

// Logs a summary of a core type.
void summary_start(const struct view *view, const struct setup *setup, const struct core_type *type);

// One line on the newest snapshot, with several core types that of one: level 1, if there is any.
void summary_status(const struct view *view, const struct snapshot *snapshot, char *out, size_t size);

// systemd shows the last status, so core types take turns: each of them is shown for a while. A type that has nothing
// to say yet delays the others once. True if it is the turn of `type`, one of n_types, which takes it then.
struct summary_turns {
    uint64_t shown_us[SOURCE_TYPES_MAX]; // when each was shown last; 0: never
};
bool summary_takes_turn(struct summary_turns *turns, size_t type, size_t n_types, uint64_t now_us);

// Warns if neither an address (nor a socket of systemd), a text file nor a recording shows what is measured.
void summary_readers(const struct setup *setup, bool sockets);

// Print to standard output; then for each core type.
void summary_files(const struct setup *setup);
void summary_config(const struct setup *setup, const struct core_type *type, const struct plan *plan);

#endif
