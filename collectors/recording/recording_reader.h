// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_RECORDING_RECORDING_READER_H
#define TOPDOWND_COLLECTORS_RECORDING_RECORDING_READER_H

// Reads a recording's file record by record, with only part of it in memory. Records appended meanwhile are read too.

#include "core/recording/recording.h"

struct recording_reader;

// Returns 0, -EINVAL if it is not a regular file, or another negative errno.
int recording_reader_new(const char *path, struct recording_reader **out);
struct recording_reader *recording_reader_free(struct recording_reader *reader);

// 1 if the file is a recording, 0 if not, or a negative errno.
int recording_reader_check(struct recording_reader *reader);

// As recording_next (core/recording/recording.h), or another negative errno. The record is valid until the next call.
int recording_reader_next(struct recording_reader *reader, struct recording_record *out);

// The byte at which the last record, or the invalid data, begins.
uint64_t recording_reader_at(const struct recording_reader *reader);

// Goes back to the first record.
void recording_reader_rewind(struct recording_reader *reader);

#endif
