// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_FILES_H
#define TOPDOWND_COLLECTORS_HOST_HOST_PLATFORM_FILES_H

// What is the same on all CPUs: parts of collectors/host/host_platform.c.

#include "collectors/host/host_linux.h"
#include "core/host/platform.h"

// Memory, frequency, kernel, sockets. Of SMT and sockets only what is told.
void host_platform_read_files(const struct host_roots *roots, struct platform *out);

#endif
