// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_JSON_JSON_SCAN_H
#define TOPDOWND_CONFIG_JSON_JSON_SCAN_H

// Checks the limits that must hold before a JSON parser may see a text. Private to config/json/json_reader.c.

#include <stddef.h>

// Returns NULL, or the fault and its place in *at: nesting over depth_max, more values than values_max, a NUL byte, and
// in strings invalid UTF-8, raw control characters and \u0000.
const char *json_scan(const char *text, size_t length, size_t depth_max, size_t values_max, size_t *at);

#endif
