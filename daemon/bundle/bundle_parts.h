// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BUNDLE_BUNDLE_PARTS_H
#define TOPDOWND_DAEMON_BUNDLE_BUNDLE_PARTS_H

// The parts of a bundle, a file for each kind. A part that cannot be had is missing, and the manifest says so.

#include <time.h>

#include "daemon/bundle/bundle.h"
#include "daemon/bundle/redaction.h"

struct bundle {
    const struct bundle_request *request;
    struct redaction redaction;
    struct text archive, manifest;
    time_t now;
};

#define BUNDLE_FOLDER "topdownd-bundle"

// bundle_contents.c: adds a file with the reason why it is there: bytes as they are, or a text without what says who
// somebody is. `text` is freed.
void bundle_add_bytes(struct bundle *bundle, const char *name, const char *why, const void *bytes, size_t n);
void bundle_add_text(struct bundle *bundle, const char *name, const char *why, struct text *text);
// Says why a file is not there.
void bundle_miss(struct bundle *bundle, const char *name, const char *why_not);

// bundle_config.c: what is to be taken out; the configuration, without secrets.
void bundle_find_names(struct bundle *bundle);
void bundle_add_configuration(struct bundle *bundle);
// bundle_host.c: the kernel's files that bear on measuring.
void bundle_add_host(struct bundle *bundle);
// bundle_daemon.c: the running daemon's pages, and the last lines of its log.
void bundle_add_daemon(struct bundle *bundle);
// bundle_recording.c: a recording of some seconds, and the files of a verification.
void bundle_add_recording(struct bundle *bundle);
void bundle_add_verified(struct bundle *bundle);

#endif
