// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_CHILD_H
#define TOPDOWND_DAEMON_BASE_CHILD_H

// Runs programs, and this program with other words.

#include <sys/types.h>

#include "daemon/base/options.h"
#include "exporters/text/text.h"

enum { CHILD_WORDS_MAX = 48 };

// The words of a command line, which end in NULL.
struct child_words {
    const char *words[CHILD_WORDS_MAX];
    size_t n;
    char pmu[512];
};

// Takes a word; NULL adds none.
void child_word(struct child_words *words, const char *word);
// "NAME VALUE", if there is a value.
void child_option(struct child_words *words, const char *name, const char *value);
// This program's command, with the options of `options` that say which host and which configuration. asks: and how to
// reach the daemon.
void child_command(struct child_words *words, const char *command, const struct options *options, bool asks);

// Starts the program. Its standard output and error go to `fd`, or nowhere (-1); closed is a descriptor that the child
// does not need, or -1. Returns the process or a negative errno.
pid_t child_start(const struct child_words *words, int fd, int closed);

// Runs the program and appends what it says on both, at most a MiB of it, or until so many seconds are over: then it is
// killed. Returns its exit status, or a negative errno: -ETIME, or -ENOENT if there is no such program.
int child_run(const struct child_words *words, unsigned seconds, struct text *out);

#endif
