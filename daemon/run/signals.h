// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SIGNALS_H
#define TOPDOWND_DAEMON_RUN_SIGNALS_H

// What signals do to the daemon. None that can be caught ends it in silence: it ends with success on those that ask for
// it, with a failure (so that systemd starts it again) on those that tell of trouble, and ignores all others. Each has
// a line in the log. Faults of the program itself (SIGSEGV, SIGABRT ...) keep what the kernel does.

#include <systemd/sd-event.h>

// Blocks and takes over the signals. Call it before there is another thread, which inherits the mask. Returns 0 or a
// negative errno.
int signals_open(sd_event *loop);

#endif
