// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SUMMARY_H
#define TOPDOWND_DAEMON_SUMMARY_H

// What the daemon says of itself in a few lines: at start, in its systemd status, and for check-config.

#include "core/readings.h"
#include "daemon/setup.h"
#include "exporters/http.h"

enum { SUMMARY_LINE_MAX = 512 };

void summary_start(const struct view *view, const struct setup *setup, const struct http_server *http);

// One line on the newest snapshot: level 1 of the host where there is one.
void summary_status(const struct view *view, const struct snapshot *snapshot, char *out, size_t size);

// To standard output.
void summary_config(const struct setup *setup, const struct plan *plan);

// Whether any window of the round has data.
bool summary_counted(const struct readings *readings);

#endif
