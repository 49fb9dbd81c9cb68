// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_CHECK_CHECK_HOST_H
#define TOPDOWND_DAEMON_CHECK_CHECK_HOST_H

// `topdownd check-config --host NAME --cpu SPEC`: which profile another host of the fleet would take.

#include "daemon/check/advice.h"

// What a host measures, by core type.
struct check_host {
    const char *hostname;
    const struct config_profile *profile;
    struct check_type {
        const char *spec;
        const struct catalog *catalog;
        struct plan_selection *selections; // owned
        size_t n_selections;
        char missing[SETUP_MISSING_MAX]; // metric groups that the spec lacks
    } types[SOURCE_TYPES_MAX];
    size_t n_types;
    struct catalog *owned; // of another CPU
};

// Finds the profile of a host of this name (NULL: this host's) with a CPU of this spec (NULL: this host's), and which
// of its metric groups that CPU has. Conditions on files are those of this host. Returns 0, -EINVAL with the reason in
// `errors` if there is no such spec, or -ENOMEM. Free it in every case.
int check_host_find(const struct setup *setup, const char *hostname, const char *cpu, struct errors *errors,
                    struct check_host *out);
void check_host_deinit(struct check_host *host);

// On standard output.
void check_host_print(const struct check_host *host);

#endif
