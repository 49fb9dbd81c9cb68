// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_DIFF_PLAY_H
#define TOPDOWND_DAEMON_COMMAND_DIFF_PLAY_H

// Reads a stretch of a recording, as fast as it goes.

#include "core/compare/stretch.h"
#include "daemon/base/options.h"
#include "daemon/source/setup.h"

// A file, and the seconds from its first snapshot interval on that count.
struct diff_part {
    char path[DATA_PATH_MAX];
    double from_seconds, to_seconds;
};

// Reads FILE or FILE@FROM-TO. False if FROM-TO makes no sense.
bool diff_part_read(const char *word, struct diff_part *out);

struct diff_played {
    char hostname[SETUP_HOSTNAME_MAX];
    char spec[HOST_TEXT_MAX];
    double seconds;
    struct stretch *stretch; // owned; ended
};

// Returns 0, -EINVAL with the reason in `errors`, -ENOMEM. Free with diff_played_deinit in every case.
int diff_play(const struct options *options, const struct diff_part *part, enum stretch_scope finest,
              struct errors *errors, struct diff_played *out);
void diff_played_deinit(struct diff_played *played);

#endif
