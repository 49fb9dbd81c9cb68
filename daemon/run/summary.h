// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SUMMARY_H
#define TOPDOWND_DAEMON_RUN_SUMMARY_H

// The daemon's description of itself in a few lines: at start, in its systemd status, and for check-config.

#include "daemon/run/listening.h"
#include "daemon/source/setup.h"
#include "exporters/health/health.h"

enum { SUMMARY_LINE_MAX = 512, SUMMARY_BOXES_MAX = 2 * SUMMARY_LINE_MAX };

// Logs a summary of a core type, which begins to be measured (starts) or goes on under another configuration.
void summary_start(const struct view *view, const struct setup *setup, const struct core_type *type, bool starts);

// One line on the newest snapshot, with several core types that of one: level 1, if there is any.
void summary_status(const struct view *view, const struct snapshot *snapshot, char *out, size_t size);

// The line that `systemctl status` shows: one for the whole host, with a part for each core type.
struct summary_host {
    char parts[SOURCE_TYPES_MAX][SUMMARY_LINE_MAX]; // "": the type has had no snapshot yet
    size_t n_types;
    uint64_t due_us, looked_us;
    bool due; // the line is to be sent
    struct health health;
    char trouble[HEALTH_TEXT_MAX]; // what does not count, as /-/ready says it
};

// Takes in a snapshot of a core type. The line is due as soon as a type has had its first snapshot, and then every ten
// seconds.
void summary_take(struct summary_host *host, size_t type, const struct view *view, const struct snapshot *snapshot,
                  uint64_t now_us);

// Takes in whether topdownd counts what it is configured to count. The line is due at once where that has changed.
void summary_take_health(struct summary_host *host, struct health health, const char *text);

// Writes the line, cut at size - 1. It begins with what does not count.
enum { SUMMARY_HOST_MAX = SOURCE_TYPES_MAX * SUMMARY_LINE_MAX + HEALTH_TEXT_MAX };
void summary_host(const struct summary_host *host, char *out, size_t size);

// Asks the server for its health once a second, and sends systemd the line if it is due.
void summary_send(struct summary_host *host, const struct listening *listening, uint64_t now_us);

// Appends the same health for `status` of the control socket (daemon/run/control.h).
void summary_tell_health(const struct listening *listening, struct text *out);

// Warns if neither an address (nor a socket of systemd), a text file nor a recording shows what is measured: in the
// log, or in `warnings` unless that is NULL.
void summary_readers(const struct setup *setup, bool sockets, struct errors *warnings);

// Describes a round that is longer than readers expect; false if it is not.
bool summary_describe_long_round(const struct plan *plan, char *out, size_t size);
// The text before the metric groups that are missing.
const char *summary_cannot(const struct source *source);

// Print to standard output; then for each core type.
void summary_files(const struct setup *setup);
void summary_config(const struct setup *setup, const struct core_type *type, const struct plan *plan);
// The same for a kind of PMUs outside the cores, and only the sentence: which boxes, and what is measured of them.
void summary_boxes(const struct setup *setup, const struct core_type *type, const struct plan *plan);
void summary_describe_boxes(const struct setup *setup, const struct core_type *type, const struct plan *plan, char *out,
                            size_t size);

// The sentence of a kind that the host has and the configuration does not measure: "PMUs upi: 8 boxes, not measured: ".
void summary_describe_unmeasured(const struct setup_unmeasured_kind *kind, char *out, size_t size);

// True of a kind over several PMUs, whose own boxes are sockets: it opens files on the boxes of all of these.
bool summary_joins(const struct core_type *type, const struct plan *plan);

// True if the groups of a plan that is always on need more than a box's counters: the kernel lets them take turns.
bool summary_takes_turns(const struct plan *plan);

// How many file descriptors the plan's events take: each of each CPU or box is a file.
size_t summary_files_of(const struct core_type *type, const struct plan *plan);

#endif
