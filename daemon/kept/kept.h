// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_KEPT_KEPT_H
#define TOPDOWND_DAEMON_KEPT_KEPT_H

// What outlives the service, in the folder that --path.state names, or else systemd's ($STATE_DIRECTORY): since when
// host and sockets have their bottleneck, and the histories. It is read when the service starts, and written at its end
// and meanwhile: since when once a minute, the histories every five minutes. Since when holds within a boot only: what
// ran before does not run any more. Histories go on over a boot of the same host with the same CPU. Without a folder
// nothing is kept.

#include "daemon/base/options.h"
#include "daemon/engine/engine.h"
#include "exporters/http/http.h"

struct kept;

// Reads what is kept, and has the engines, which have not stepped yet, and the server's history go on with it. A file
// that cannot be used is logged and is as good as none. NULL if nothing is to be kept, as for a replay, or can be.
struct kept *kept_new(const struct options *options, const struct setup *setup, struct shown_history *history,
                      struct engine *const *engines, size_t n);

// Writes what the engines know now if it is time to. Takes NULL.
void kept_step(struct kept *kept, struct engine *const *engines, size_t n, uint64_t now_ns);

// Writes it for the last time, and waits for that as kept_file_free. Returns NULL, takes NULL.
struct kept *kept_free(struct kept *kept, struct engine *const *engines, size_t n);

#endif
