// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_OPTIONS_ERROR_H
#define TOPDOWND_DAEMON_BASE_OPTIONS_ERROR_H

// Prints mistakes in the command line on standard error. Both functions return -EINVAL.

int options_say(const char *what);

// `suggestion` may be NULL.
int options_refuse(const char *what, const char *word, const char *suggestion);

#endif
