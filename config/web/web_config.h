// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_WEB_WEB_CONFIG_H
#define TOPDOWND_CONFIG_WEB_WEB_CONFIG_H

// Reads a web configuration file, in the schema that Prometheus' exporters share (exporter-toolkit,
// docs/web-configuration.md). What it can say there and not here is refused: a protection that somebody wrote down is
// never left out silently.

#include "core/base/error.h"
#include "core/host/web_settings.h"

// Paths in the file are relative to its folder. Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int web_config_load(const char *path, struct errors *errors, struct web_settings **out);

// The same from memory.
int web_config_parse(const char *path, const char *text, size_t length, struct errors *errors,
                     struct web_settings **out);

#endif
