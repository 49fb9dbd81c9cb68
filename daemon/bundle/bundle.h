// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BUNDLE_BUNDLE_H
#define TOPDOWND_DAEMON_BUNDLE_BUNDLE_H

// `topdownd doctor --bundle FILE`: what a bug report needs, in one .tar.gz, without secrets.

#include <sys/types.h>

#include "daemon/source/setup.h"

struct bundle_request {
    const struct options *options;
    const struct setup *setup;
    pid_t daemon;         // 0: none runs
    const char *verified; // folder of a verification, whose files are taken in; NULL: none
};

// Whether FILE may be written: 0, or -EINVAL with the reason in `errors`. Looked at before all that takes time.
int bundle_check(const struct options *options, struct errors *errors);

// Collects and writes it, and says on standard output what is in it. Returns 0, -EINVAL with the reason in `errors`, or
// another negative errno.
int bundle_write(const struct bundle_request *request, struct errors *errors);

#endif
