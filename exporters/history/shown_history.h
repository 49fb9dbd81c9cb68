// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HISTORY_SHOWN_HISTORY_H
#define TOPDOWND_EXPORTERS_HISTORY_SHOWN_HISTORY_H

// The histories of the host's core types, of its kinds of PMUs outside the cores, and of what the kernel counts of
// memory. A reload may add and remove kinds, so that each is known by its name and not by its place among the types.
// The thread that publishes snapshots adds to them, the server's thread reads: both hold a lock for microseconds.

#include <pthread.h>

#include "core/history/history.h"
#include "core/history/history_memory.h"
#include "core/kept/kept_bytes.h"
#include "exporters/text/text.h"
#include "exporters/view/shown.h"
#include "exporters/view/view_history.h"
#include "exporters/view/view_marks.h"

struct shown_history {
    pthread_mutex_t lock;
    struct shown_history_place {
        struct history *history; // NULL: none yet, or no memory
        struct view_marks marks;
        char kept_as[KEPT_NAME_MAX]; // the name under which the history outlives the process
        char *kind; // of PMUs outside the cores; NULL: a core type, which has the place of its number, or none
        bool gone;  // the kind is no longer measured: its past waits for it until another kind needs the place
    } places[SHOWN_TYPES_MAX];
    struct history_memory *memory; // what the kernel counts of it; NULL: nothing yet, or no memory
    size_t n_nodes;                // of NUMA, in the newest reading; 0: nothing is read
    struct kept_histories kept;    // of an earlier process, for places that have none yet
};

void shown_history_init(struct shown_history *history);
void shown_history_deinit(struct shown_history *history);

// From now on these types are shown: `n` with `n_cores` core types first.
void shown_history_renew(struct shown_history *history, size_t n_cores, struct view *const *views, size_t n);

// Takes in a snapshot of type `type`. The first `n_cores` are core types.
void shown_history_take(struct shown_history *history, size_t type, size_t n_cores, struct view *view,
                        const struct snapshot *snapshot);

// Adds a mark that somebody sets (core/history/marks.h), of the whole host: the first core type keeps it. Returns 0, or
// -EAGAIN before the first snapshot.
int shown_history_mark(struct shown_history *history, int64_t at_ns, const char *text);

// Appends all histories, which outlive the process (core/kept/kept_bytes.h).
void shown_history_keep(struct shown_history *history, struct recording_buffer *out);
// Goes on with those of an earlier process; takes them over. Before the first snapshot.
void shown_history_restore(struct shown_history *history, struct kept_histories *kept);

// What is asked of them, as words, borrowed; NULL: not given.
struct shown_history_query {
    const char *scope, *metric, *from, *step;
};

// Reads what was asked; the caller calls view_history_deinit, also after a failure. The views of `shown` are borrowed.
// Returns 0, -ENOMEM, or -EINVAL with the mistake and what can be asked in `error`, for people (cut at size - 1).
int shown_history_read(struct shown_history *history, const struct shown_history_query *query,
                       const struct shown *shown, struct view_history *answer, char *error, size_t size);
// The same as JSON, which may be compressed.
int shown_history_render(struct shown_history *history, const struct shown_history_query *query,
                         const struct shown *shown, bool gzip, struct text *out, char *error, size_t size);
#endif
