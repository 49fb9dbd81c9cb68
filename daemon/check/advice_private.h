// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_CHECK_ADVICE_PRIVATE_H
#define TOPDOWND_DAEMON_CHECK_ADVICE_PRIVATE_H

// What the files of advice about `uncore` share.

#include "collectors/host/host_linux.h"
#include "core/host/scenario.h"
#include "daemon/check/advice.h"

// advice_boxes.c: patterns of `uncore.boxes` that match no box, of this host or of a simulated one.
void advice_boxes_of_host(const struct config_boxes *boxes, const struct host_roots *roots, struct advice *advice);
void advice_boxes_of_scenario(const struct config_boxes *boxes, const struct scenario *host, struct advice *advice);

// advice_uncore_groups.c: groups that this host, or a simulated one, does not have; and boxes of a simulated one.
void advice_uncore_groups(const struct setup *setup, const struct host_roots *roots, struct advice *advice);

#endif
