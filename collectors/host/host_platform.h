// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_H

// Collects the facts of core/host/platform.h from the kernel's files of this host.
//
// They can change while the daemon runs, but rarely. A pass over all CPUs begins HOST_PLATFORM_SECONDS after the last
// one ended, and advances by a few CPUs with each look, so that no look takes long. Nothing is guessed: what no file
// tells is unknown, with the reason.

#include <stdint.h>

#include "collectors/host/host_linux.h"
#include "core/host/platform.h"

enum { HOST_PLATFORM_SECONDS = 60, HOST_PLATFORM_CPUS = 16 }; // a look at so many takes about half a millisecond

struct host_platform; // private

// `devices` is the folder of device files, which only the host's own sysfs has beside it; NULL: there is none. Borrows
// the paths. NULL if out of memory.
struct host_platform *host_platform_new(const struct host_roots *roots, const char *devices);
struct host_platform *host_platform_free(struct host_platform *collector); // returns NULL, takes NULL

// Looks at up to `cpus_max` CPUs more, if a pass is due or under way. Returns 1 at the end of a pass, with a reference
// to what was found in *out; else 0; -ENOMEM, and the next look begins again.
int host_platform_look(struct host_platform *collector, uint64_t now_ns, size_t cpus_max, struct platform **out);

#endif
