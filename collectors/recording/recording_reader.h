// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_RECORDING_READER_H
#define TOPDOWND_COLLECTORS_RECORDING_RECORDING_READER_H

// Reads a recording's file record by record: however large it is, only some of it is in memory. What is written to it
// meanwhile is read, too.

#include "core/recording/recording.h"

struct recording_reader;

// Returns 0, -EINVAL: it is not a regular file, another negative errno.
int recording_reader_new(const char *path, struct recording_reader **out);
struct recording_reader *recording_reader_free(struct recording_reader *reader);

// Whether the file is a recording; or a negative errno.
int recording_reader_check(struct recording_reader *reader);

// As recording_next (core/recording/recording.h); or another negative errno. The record is there until the next call.
int recording_reader_next(struct recording_reader *reader, struct recording_record *out);

// At which byte the last record begins, or what was none.
uint64_t recording_reader_at(const struct recording_reader *reader);

// The first record is the next one.
void recording_reader_rewind(struct recording_reader *reader);

#endif
