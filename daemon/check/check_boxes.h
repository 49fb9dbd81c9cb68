// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_CHECK_CHECK_BOXES_H
#define TOPDOWND_DAEMON_CHECK_CHECK_BOXES_H

// What a configuration measures outside the cores of this host, what of it not and why, and what that takes.

#include "daemon/source/setup.h"
#include "exporters/text/json_writer.h"

// Makes the plans of the kinds that are measured, behind those of the core types. Returns as setup_plan_stated.
int check_boxes_plan(const struct setup *setup, struct errors *errors, struct plan *plans[SETUP_TYPES_MAX]);

// On standard output, behind the core types.
void check_boxes_print(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX]);

// The members `uncore` and `uncore_not_measured`; empty where `plans` is NULL.
void check_boxes_write(const struct setup *setup, struct plan *const plans[SETUP_TYPES_MAX], struct json *json);

#endif
