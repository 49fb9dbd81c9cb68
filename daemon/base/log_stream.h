// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_LOG_STREAM_H
#define TOPDOWND_DAEMON_BASE_LOG_STREAM_H

// Stands before standard error while the daemon runs, and holds messages back that repeat (daemon/base/log_limit.h). It
// is a stream of the C library, so that the state belongs to whoever opens it, and all threads write through its lock.

#include <stdbool.h>
#include <stdint.h>

struct log_stream;

// Puts it into the place of `stderr`. NULL if that fails: all messages are written then.
struct log_stream *log_stream_open(void);

// Says what was held back in minutes that are over. Cheap where nothing is.
void log_stream_step(struct log_stream *stream, uint64_t now_ns);

// Says what was held back, and lets all messages pass anew: somebody has asked for something, and what follows is the
// answer. Takes NULL.
void log_stream_renew(struct log_stream *stream);

// Says what else was held back, and puts the former `stderr` into its place again. Takes NULL; returns NULL.
struct log_stream *log_stream_close(struct log_stream *stream);

#endif
