// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SETUP_H
#define TOPDOWND_DAEMON_SOURCE_SETUP_H

// Everything known before anything is opened: files read, a profile chosen. It is immutable from then on, except for
// the core types: measuring follows the CPUs that come online, and notes what the kernel refuses.

#include "collectors/host/host_platform.h"
#include "config/yaml/config.h"
#include "core/tally/snapshot.h"
#include "daemon/source/source.h"
#include "exporters/view/shown.h"

// Types: core types, and kinds of PMUs outside the cores.
enum {
    SETUP_HOSTNAME_MAX = 256,
    SETUP_MISSING_MAX = 512,
    SETUP_TYPES_MAX = SHOWN_TYPES_MAX,
    SETUP_KIND_MAX = 64,
    SETUP_WHY_MAX = 160
};

// A measured core type of the host. Most hosts have one.
struct core_type {
    struct source *source;
    struct topology *topology;
    struct plan_selection *selections; // the profile's metric groups that its spec has
    size_t n_selections;
    char *missing; // metric groups that its spec lacks; NULL: it has all
};

// Metric groups that this CPU lacks are wanted in vain, but not of one core type where another one may have them.
static inline bool core_type_wants_counts(const struct core_type *type) {
    return type->n_selections > 0 || (type->missing && type->source->prefix[0] == '\0');
}

struct setup {
    char data[DATA_PATH_MAX];
    char hostname[SETUP_HOSTNAME_MAX]; // of this host, which chooses the profile, or of the recorded one
    bool of_other_host;                // a log of perf does not say where it was counted: `hostname` is not shown
    const char *revision;              // of the program; a literal
    struct specs specs;
    struct config *config;
    const struct config_profile *profile;
    const char *record_path;                   // NULL: no recording
    const struct config_origin *record_origin; // place in the configuration; NULL: from the command line
    uint64_t record_bytes;                     // limit of all its files together
    struct setup_textfile {
        const char *folder; // NULL: none
        uint64_t interval_ns;
    } textfile;
    double speed;            // of a replay
    int steps_fd;            // of a replay that somebody steps (daemon/engine/stepper.h); 0: nobody does
    bool quiet;              // nobody waits for its end: the log says nothing of it
    uint64_t round_least_ns; // as of a plan_request
    bool whole_rounds;       // a snapshot is of one round of all cores, and of nothing else
    bool chosen_only;        // nothing is fetched for the verdict: a measurement by hand looks closer by itself
    bool many_rounds;        // snapshots tell what many rounds come to together: core/tally/derive.h
    struct core_type types[SETUP_TYPES_MAX];
    size_t n_types;           // at least 1
    size_t n_boxes;           // after them: kinds of PMUs outside the cores (daemon/uncore/)
    struct setup_unmeasured { // kinds that the host has, and the configuration does not measure
        struct setup_unmeasured_kind {
            char name[SETUP_KIND_MAX];
            size_t n; // boxes
            char why[SETUP_WHY_MAX];
        } * kinds;
        size_t n;
    } unmeasured;
    struct platform *platform;           // the host's; may be replaced (setup_look_at_platform)
    struct host_platform *platform_look; // NULL: it never changes
};

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM. Call setup_deinit in every case.
int setup_init(struct setup *setup, const struct options *options, struct errors *errors);
void setup_deinit(struct setup *setup);

// The name of the host that values are of; NULL: unknown.
const char *setup_shown_host(const struct setup *setup);

// The condition `file` of a rule that chooses a profile.
bool setup_file_exists(const char *path);

// The profile in force, or in force when a replay was recorded.
const char *setup_profile_name(const struct setup *setup);

// The time between two snapshots, as of a sampler_request.
uint64_t setup_interval_ns(const struct setup *setup);

// How long a daemon leaves the kernel's times alone, as of a sampler_request: a look at /proc/stat costs it a tenth of
// all that a small host pays. What measures once looks with all readings.
uint64_t setup_told_pause_ns(const struct setup *setup);

// True if the type's schedule is adaptive, or was at the beginning of a replayed recording.
bool setup_adaptive(const struct setup *setup, const struct core_type *type);

// True if what the verdict leads to is measured as well (core/adapt/evidence.h).
bool setup_fetches(const struct setup *setup, const struct core_type *type);

// Looks whether the platform's facts have changed, a few of them at a time. Returns true if there are others now.
bool setup_look_at_platform(struct setup *setup, uint64_t now_ns);

// True if somebody can read what is measured: at an address or at one of systemd's sockets, in a text file, or in a
// recording.
bool setup_is_read(const struct setup *setup, bool sockets);

// Leaves out the text file and the recording.
void setup_write_nothing(struct setup *setup);

// The number of measured CPUs of all types.
size_t setup_n_cpus(const struct setup *setup);

// What a core type's plan depends on, beside its set-up.
struct setup_plan_request {
    const bool *raised;                           // of each selection: it gets more of the round; NULL: none does
    const bool *dead;                             // of core/adapt/dead.h; NULL: none
    const uint8_t *findings;                      // enum plan_finding of each of the catalog's metrics; NULL: none
    unsigned general_counters, reserved_counters; // 0: events take none; of these, left to others
    const struct plan_fetched *fetched;           // as of a plan_request; NULL: none
    size_t n_fetched;
    size_t fetched_files; // so many files more may be opened for these
    double slot_factor;   // slots, or the interval between readings of boxes, are longer than configured by this factor
};

// Makes a core type's plan. Returns 0, -EINVAL with the reason in `errors`, -ENOMEM.
int setup_plan(const struct setup *setup, const struct core_type *type, const struct setup_plan_request *asked,
               struct errors *errors, struct plan **out);

// The plan for the counters that the core type's spec states, before anything has been opened.
int setup_plan_stated(const struct setup *setup, const struct core_type *type, struct errors *errors,
                      struct plan **out);

#endif
