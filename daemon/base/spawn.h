// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_SPAWN_H
#define TOPDOWND_DAEMON_BASE_SPAWN_H

// Runs programs, and this program with other words.

#include <sys/types.h>

#include "daemon/base/options.h"
#include "exporters/text/text.h"

enum { SPAWN_WORDS_MAX = 48 };

// The words of a command line, which end in NULL.
struct spawn_words {
    const char *words[SPAWN_WORDS_MAX];
    size_t n;
    char pmu[512];
};

// Takes a word; NULL adds none.
void spawn_word(struct spawn_words *words, const char *word);
// "NAME VALUE", if there is a value.
void spawn_option(struct spawn_words *words, const char *name, const char *value);
// This program's command, with the options of `options` that say which host and which configuration. asks: and how to
// reach the daemon.
void spawn_command(struct spawn_words *words, const char *command, const struct options *options, bool asks);

// Starts the program. Its standard output and error go to `fd`, or nowhere (-1); closed is a descriptor that the child
// does not need, or -1. Returns the process or a negative errno.
pid_t spawn_start(const struct spawn_words *words, int fd, int closed);

// Runs the program and appends what it says on both, at most a MiB of it, or until so many seconds are over: then it is
// killed. Returns its exit status, or a negative errno: -ETIME, or -ENOENT if there is no such program.
int spawn_run(const struct spawn_words *words, unsigned seconds, struct text *out);

#endif
