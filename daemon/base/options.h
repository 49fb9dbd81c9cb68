// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_OPTIONS_H
#define TOPDOWND_DAEMON_BASE_OPTIONS_H

// The command line.

#include <stdbool.h>
#include <stdint.h>

#include "config/spec/spec_format.h"

enum command { COMMAND_RUN, COMMAND_CHECK_CONFIG, COMMAND_YIELD, COMMAND_EVAL, COMMAND_HELP, COMMAND_VERSION };
enum pmu_kind { PMU_AUTO, PMU_LINUX, PMU_SIM, PMU_REPLAY };

struct options {
    enum command command;
    enum pmu_kind pmu;
    const char *scenario;  // --pmu sim:FILE, or the name of one that ships; NULL: the demo
    const char *replay;    // --pmu replay:FILE
    double speed;          // of the replay, 1: as it was; 0: as fast as possible
    const char *spec;      // eval: a vendor's file or folder; else a spec's name for a replayed log; NULL: not given
    const char *record;    // file; NULL: as the configuration says
    uint64_t record_bytes; // of the file and the one before it; 0: not given
    const char *config;
    bool config_given; // false: the default path, which may be absent
    const char *sysfs, *procfs;
    const char *data;     // folder with specs/ and scenarios/; NULL: found beside the program
    const char *run;      // folder of the control socket; NULL: where systemd made one
    const char *socket;   // yield: the daemon's control socket; NULL: in the folder
    double yield_seconds; // 1 to 3600, or 0 to take the counters back
    struct {
        const char *counts;
        const char *cpuid; // NULL: not given
        enum spec_format format;
        bool scaled;
    } eval;
};

// Reads the command line. Returns 0, or -EINVAL after printing what is wrong.
int options_parse(int argc, char **argv, struct options *out);

// Reads the value of --pmu. Returns 0, or -EINVAL after printing what is wrong.
int options_parse_pmu(const char *word, struct options *options);

void options_help(void);

#endif
