// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_TEXTFILE_H
#define TOPDOWND_DAEMON_RUN_TEXTFILE_H

// The page for Prometheus as a file, topdownd.prom, which node_exporter's collector of text files reads: for hosts that
// may open no port. A thread of its own writes it, so that a disk that is slow or hangs delays no measurement. Each
// time the whole page is written beside the file and renamed into its place, so that readers never see a part. When the
// daemon ends the file goes: node_exporter would show its values for ever.

#include "daemon/base/self.h"
#include "daemon/source/setup.h"
#include "exporters/http/http.h"

struct textfile;

// Begins to write to the folder of the setup, once views and snapshots are published. *out is NULL if it names none.
// Returns 0 or a negative errno. A folder that cannot be written to is no error: it is tried again every time.
int textfile_new(const struct setup *setup, struct textfile **out);

// Goes on as another setup says: in another folder, which ends the file in this one, or at another interval. Logs it if
// that fails: the file is as before then.
void textfile_change(struct textfile **textfile, const struct setup *setup);

// Publishes a newer snapshot of a core type, of which the host has `n_types`; takes references. Nothing is written
// before each type has one.
void textfile_publish(struct textfile *textfile, size_t type, size_t n_types, const struct http_published *published);

// The type of each number may be another from now on: nothing is written before each has been published again. Takes
// NULL.
void textfile_begin_again(struct textfile *textfile);

// How writing goes, for the next snapshot; takes NULL.
struct status_textfile textfile_state(struct textfile *textfile);

// Checks in advance: 0, or the negative errno of what would fail now.
int textfile_check(const char *folder);

// Waits for the write that is going on, and removes the file. Takes NULL.
struct textfile *textfile_free(struct textfile *textfile);

#endif
