// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_YAML_CONFIG_H
#define TOPDOWND_CONFIG_YAML_CONFIG_H

// The YAML configuration of a host or a fleet. docs/topdownd.yaml.5 is its manual.
//
// The main file and the conf.d/*.yaml beside it are merged (scalars replace, maps merge, lists replace), then checked
// as a whole; every mistake is reported with its file, line and column. An invalid configuration is not used at all.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/vendor/spec_format.h"
#include "config/yaml/config_origin.h"
#include "core/base/cpuset.h"
#include "core/base/error.h"

enum { CONFIG_FILES_MAX = 256 };

// In a profile: the groups that the CPU's spec recommends.
#define CONFIG_DEFAULTS "Defaults"

struct config_group {
    char *name; // metric group, as written
    struct config_origin origin;
    unsigned weight;  // slots per round for its event groups; 0: the default
    bool weight_only; // not selected: the weight is for one of the spec's defaults
};

// What to do if the host may run guests.
enum config_guests {
    CONFIG_GUESTS_AUTO, // do not disturb them: their time is not counted
    CONFIG_GUESTS_SHARE // count them too
};

// How the round's slots are distributed.
enum config_mode {
    CONFIG_MODE_FIXED,   // by the weights
    CONFIG_MODE_ADAPTIVE // more for what the method's decision tree points to
};

// Settings allowed at the top level and in a profile; the profile wins.
struct config_settings {
    uint64_t slot_ns;     // 0: by the number of cores
    uint64_t interval_ns; // between snapshots
    double idle;          // 0 to 0.9
    bool cpus_all;
    struct cpuset cpus; // if not all; from cpus_origin
    struct config_origin cpus_origin;
    unsigned reserve_counters; // counters of each CPU left to others: 0 to 31
    enum config_guests guests;
    enum config_mode mode;
    bool evidence;           // what the verdict leads to is measured while it asks for it
    bool standard_error;     // exported to Prometheus
    unsigned max_series;     // of /metrics: more are told; 0: any number
    unsigned max_cpu_series; // of /metrics/cpu: more are left out; 0: any number
};

struct config_profile {
    char *name;
    struct config_group *groups;
    size_t n_groups;
    struct config_settings settings; // complete: the top level's by default
};

// Matches if all its conditions match; hostname and cpu are shell patterns (fnmatch), NULL if absent.
struct config_host {
    char *hostname, *cpu, *file;
    unsigned profile;
    struct config_origin origin;
};

struct config_listen {
    char *text;    // as written
    char *address; // numeric, without brackets
    uint16_t port;
    struct config_origin origin; // no file: nobody has written it
};

// `specs:` at the top level: a vendor's files instead of the shipped specs.
struct config_specs {
    char *path; // a file or folder, absolute; NULL: shipped specs
    enum spec_format format;
    struct config_origin origin; // of the path
};

// `record:` at the top level: topdownd writes every reading to a file and keeps older files.
struct config_record {
    char *path;                  // absolute; NULL: no recording
    uint64_t size_bytes;         // limit of all files together
    struct config_origin origin; // of the path
};
#define CONFIG_RECORD_BYTES_MIN UINT64_C(0x100000)      // 1M
#define CONFIG_RECORD_BYTES_MAX UINT64_C(0x10000000000) // 1024G

// `textfile:` at the top level: the page for Prometheus, written to a file in this folder again and again.
struct config_textfile {
    char *path;           // of the folder, absolute; NULL: none
    uint64_t interval_ns; // between two times
};

// Shell patterns (fnmatch) of the kernel's names of PMUs, each with its place.
struct config_patterns {
    struct config_pattern {
        char *text;
        struct config_origin origin;
    } * items;
    size_t n;
};

// `uncore:` at the top level: PMUs outside the cores. By default the first group, memory, alone.
enum { CONFIG_UNCORE_GROUPS = 5, CONFIG_UNCORE_STANDARD = 1 };
struct config_uncore {
    bool off;                                                  // none of them is opened
    unsigned groups;                                           // of kinds, one bit each; see config_uncore_selects
    struct config_origin groups_origins[CONFIG_UNCORE_GROUPS]; // of those that the configuration names
    struct config_group *named;
    size_t n_named; // metric groups of the kinds' specs
    // What the kernel itself counts of memory (core/memory/host_memory.h) is not read; nor is it where `off` is true.
    bool numa_off, resctrl_off;
    struct config_peak {
        bool every; // socket; else the one of this number
        unsigned socket;
        double bytes_per_second; // 0: as the host says
    } * peaks;
    size_t n_peaks;
    struct config_origin peak_origin;
    struct config_boxes {
        struct config_patterns include, exclude; // no pattern to include: all
    } boxes;
    struct config_pmu {                // that no spec knows
        struct config_patterns name;   // one
        struct config_patterns events; // of which each is the name of one
    } * pmus;
    size_t n_pmus;
};

// True if kinds of this group (core/uncore/uncore.h) are to be measured.
bool config_uncore_selects(const struct config_uncore *uncore, const char *group);

// Where the configuration names the group; no file: it does not.
struct config_origin config_uncore_origin(const struct config_uncore *uncore, const char *group);

// The configured peak of a socket's memory (physical_package_id); 0: the configuration leaves it to the host.
double config_uncore_peak(const struct config_uncore *uncore, unsigned socket);

// True if the configuration leaves out the box of this PMU.
bool config_uncore_leaves_out(const struct config_uncore *uncore, const char *pmu);

struct config {
    char **files; // files read, in order
    size_t n_files;
    struct config_listen *listen;
    size_t n_listen;            // 0: `listen: none`
    struct config_listen probe; // no text: none. `address` may be the absolute path of a Unix socket
    struct config_profile *profiles;
    size_t n_profiles;  // one of them is "default"
    int forced_profile; // `profile:` at the top level; -1: by match
    struct config_host *hosts;
    size_t n_hosts;
    struct config_settings settings; // of the top level; profiles begin with them
    struct config_specs specs;
    struct config_record record;
    struct config_textfile textfile;
    struct config_uncore uncore;
    struct config_set *set; // each key that has been read
    size_t n_set;
    uint64_t hash; // of the merged content, without comments and layout
};

// Where a key is set for a profile: there, or else at the top level. `name` is as in struct config_key_help ("idle",
// "counters.reserve", "specs.path"), but a profile's own keys have no prefix ("groups"). No file: its default is in
// force.
struct config_origin config_place_of(const struct config *config, const struct config_profile *profile,
                                     const char *name);

// "FILE:LINE: ", to stand before a message; "" without a line.
struct config_origin_text {
    char text[ERROR_FILE_MAX + 16];
};
struct config_origin_text config_origin_text(struct config_origin at);

// Reads `path` and the folder conf.d beside it, if there is one (*.yaml in lexical order). Returns 0, -EINVAL with the
// mistakes in `errors` (including unreadable files), -ENOMEM.
int config_load(const char *path, struct errors *errors, struct config **out);

// Checks what only the caller can know, such as the names of metric groups. Invalid entries of the configuration are
// already in `errors`; they are left out or have their defaults. Returns 0, -EINVAL with more in `errors`, or -ENOMEM.
typedef int config_check(const struct config *config, const void *context, struct errors *errors);

// The same as config_load with `check`, so that all mistakes are shown at once.
int config_load_checked(const char *path, config_check *check, const void *context, struct errors *errors,
                        struct config **out);

// The same from memory, without conf.d; errors show `name` as the file.
int config_parse(const char *name, const char *text, size_t length, struct errors *errors, struct config **out);

struct config *config_free(struct config *config);

// A key of the configuration, for people.
struct config_key_help {
    char name[64];        // with its enclosing mappings, as "counters.reserve"
    bool in_profile;      // allowed in a profile, too
    const char *standard; // the default; NULL if it is not one value
    const char *help;
};

// Describes the key of this index; false if there is none.
bool config_describe_key(size_t index, struct config_key_help *out);

// The host facts that choose a profile.
struct config_facts {
    const char *hostname;
    const char *const *cpus; // the spec's name, such as "neoverse-v2", of each core type; any may match
    size_t n_cpus;           // at least 1
    bool (*file_exists)(const char *path);
};

// The profile for a host: the forced one, else the first match, else "default".
const struct config_profile *config_select(const struct config *config, const struct config_facts *facts);

// True if the condition `cpu` of a rule holds for one of these specs' names; NULL holds for all.
bool config_cpu_matches(const char *pattern, const char *const *cpus, size_t n);

#endif
