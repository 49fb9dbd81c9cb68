// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_BUILD_VENDOR_H
#define TOPDOWND_TESTS_BUILD_VENDOR_H

// Catalogs of vendors' files that are not bound to a host. The daemon always binds them
// (daemon/source/source_vendor.h).

#include "config/spec/spec_json.h"
#include "config/vendor/perf_json.h"

// As spec_json_read_vendor and perf_json_read, with a finished catalog.
int vendor_load_spec(const char *path, const char *defaults, const struct environment *environment,
                     struct errors *errors, struct catalog **out);
int vendor_load_perf(const struct perf_json_request *request, struct errors *errors, struct catalog **out);

#endif
