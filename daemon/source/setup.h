// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SETUP_H
#define TOPDOWND_DAEMON_SOURCE_SETUP_H

// All that is known before anything is opened: files read, a profile chosen. Immutable from then on, but for what
// belongs to a type of cores: its measure follows the CPUs that come online, and notes what the kernel refuses.

#include "config/yaml/config.h"
#include "core/tally/snapshot.h"
#include "daemon/source/source.h"

enum { SETUP_HOSTNAME_MAX = 256, SETUP_MISSING_MAX = 512 };

// A type of the host's cores that is measured. Most hosts have one.
struct core_type {
    struct source *source;
    struct topology *topology;
    struct plan_selection *selections; // the profile's metric groups, as far as its spec has them
    size_t n_selections;
    char missing[SETUP_MISSING_MAX]; // metric groups that its spec does not have
};

struct setup {
    char data[DATA_PATH_MAX];
    char hostname[SETUP_HOSTNAME_MAX];
    struct specs specs;
    struct config *config;
    const struct config_profile *profile;
    const char *record_path;                   // NULL: nothing is recorded
    const struct config_origin *record_origin; // where the configuration says so; NULL: on the command line
    uint64_t record_bytes;                     // of all its files together
    double speed;                              // of a replay
    struct core_type types[SOURCE_TYPES_MAX];
    size_t n_types; // at least 1
};

// Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM. setup_deinit in every case.
int setup_init(struct setup *setup, const struct options *options, struct errors *errors);
void setup_deinit(struct setup *setup);

// The profile that is measured, or was when what is replayed was recorded.
const char *setup_profile_name(const struct setup *setup);

// Whether the type's schedule is adaptive, or was when what is replayed began.
bool setup_adaptive(const struct setup *setup, const struct core_type *type);

// The CPUs of all types that are measured.
size_t setup_n_cpus(const struct setup *setup);

// A core type's plan for so many general counters (0: events take none), so many of which are left to others, and slots
// so much longer than configured. `raised`: of each selection, whether it gets more of the round; NULL: none does.
// Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int setup_plan(const struct setup *setup, const struct core_type *type, const bool *raised, unsigned general_counters,
               unsigned reserved_counters, double slot_factor, struct errors *errors, struct plan **out);

#endif
