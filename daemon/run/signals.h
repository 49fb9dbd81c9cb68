// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_SIGNALS_H
#define TOPDOWND_DAEMON_RUN_SIGNALS_H

// Handles signals. No signal that can be caught ends the daemon silently: it exits with success on signals that ask for
// it, with a failure (so that systemd restarts it) on signals that report trouble, and ignores all others. It logs each
// signal. Faults of the program itself (SIGSEGV, SIGABRT ...) keep the kernel's default action.

#include <systemd/sd-event.h>

// Blocks the signals and handles them in the loop, SIGHUP by `reload`. Call it before starting other threads, which
// inherit the mask. Returns 0 or a negative errno.
int signals_open(sd_event *loop, sd_event_signal_handler_t reload, void *context);

#endif
