// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_OPTIONS_H
#define TOPDOWND_DAEMON_BASE_OPTIONS_H

// The command line: `topdownd [COMMAND [WORD]] [OPTION]...`.
//
// A new option is one entry in daemon/base/options_table.c, and the member that it sets. A new command is one entry in
// daemon/command/command.c. Parsing, `--help` of topdownd and of each command, and the options of each command come
// from these two tables.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/vendor/spec_format.h"

enum { OPTIONS_LISTEN_MAX = 16 };

enum pmu_kind { PMU_AUTO, PMU_LINUX, PMU_SIM, PMU_REPLAY };

struct options {
    const char *revision; // of the program, not an option
    const char *word;     // after the command; NULL: none
    const char *second;   // and the one after that
    bool help, version;
    enum pmu_kind pmu;
    const char *scenario; // --pmu sim:FILE, or the name of a shipped one; NULL: the demo
    struct {
        const char *path; // --pmu replay:FILE
        double speed;     // 1: as recorded; 0: as fast as possible
        bool speed_given;
    } replay;
    const char *spec;      // eval: a vendor's file or folder; else a spec's name for a replayed log; NULL: not given
    const char *record;    // file; NULL: from the configuration
    uint64_t record_bytes; // of all files together; 0: not given
    const char *textfile;  // folder; NULL: from the configuration
    const char *config;
    bool config_given; // false: the default path, which may be absent
    bool json;         // print JSON, not text
    bool all_warnings; // show every warning about a vendor's files
    struct {
        const char *sysfs, *procfs;
        const char *hostname; // NULL: what the kernel says, which in a container is not the host's
        const char *data;     // folder with specs/ and scenarios/; NULL: beside the program
        const char *run;      // folder of the control socket; NULL: the one systemd made
        const char *state;    // folder of what outlives the daemon; NULL: the one systemd made, or none
        const char *socket;   // the daemon's control socket, to ask it; NULL: in the folder
    } paths;
    struct {
        double seconds; // 1 to 3600; 0: --for was not given
        bool end;       // take the counters back
    } yield;
    struct {
        const char *counts;
        const char *cpuid; // NULL: not given
        enum spec_format format;
        bool scaled;
    } eval;
    struct options_web {
        const char *listen[OPTIONS_LISTEN_MAX]; // instead of the configuration's; none: its own
        size_t n_listen;
        bool systemd_socket; // the sockets that systemd passes, instead of both
        const char *config;  // TLS, passwords and headers; NULL: none
    } web;
    struct {
        const char *host, *cpu; // NULL: this one's
        bool strict;            // a warning fails
    } check;
    struct {
        const char *bundle; // file; NULL: none
        bool force;         // write over it
        bool verify;        // run kernels of which the truth is known
    } doctor;
    struct {
        const char *by; // NULL: the host
    } diff;
    struct {
        const char *cpu, *group; // NULL: this host's, all
    } list;
    struct {
        const char *url, *cacert, *user, *password_file; // NULL: not given
        bool once;
    } top;
    struct {
        bool on;      // measure for one view: no control socket, no recording, no text file
        int steps_fd; // of a replay that is stepped; 0: none
    } aside;
    struct options_measure {
        double seconds, interval_seconds; // 0: not given
        double snapshot_seconds;          // the time between two snapshots; 0: the profile's
        const char *cpus, *groups, *by;   // NULL: the profile's, the profile's, the host
        bool csv, dashes;                 // dashes: the command line has a "--"
        bool opportunities;               // tell what each action could win, and nothing else
        char *const *command;             // after "--", ended by NULL; NULL: none
    } measure;
};

// Sets of options that a command takes.
enum option_set {
    OPTIONS_ALL = 1,     // of every command
    OPTIONS_HOST = 2,    // location of the host's files and its configuration
    OPTIONS_MEASURE = 4, // recording, replaying, the control socket's folder
    OPTIONS_YIELD = 8,
    OPTIONS_LIST = 16,
    OPTIONS_EVAL = 32,
    OPTIONS_ASK = 64, // how to reach the running daemon
    OPTIONS_DOCTOR = 128,
    OPTIONS_DIFF = 256,
    OPTIONS_EXPLAIN = 512,
    OPTIONS_CHECK = 1024,
    OPTIONS_MEASURE_NOW = 2048, // a measurement by hand
    OPTIONS_TOP = 4096,
    OPTIONS_MARK = 8192,
    OPTIONS_OPPORTUNITIES = 1 << 14,
    OPTIONS_RELOAD = 1 << 16,
    OPTIONS_MEMORY = 1 << 15
};

struct command {
    const char *name;
    const char *word;                            // the words after it, as "cpus|groups" or "A B"; NULL: none allowed
    unsigned sets;                               // of enum option_set, besides OPTIONS_ALL
    bool starts;                                 // words after "--" are a command that it starts
    const char *summary;                         // in the list of commands
    const char *help;                            // above the options of the command
    void (*more)(void);                          // prints more help; NULL: none
    const char *example;                         // a whole command line; a test runs it
    const char *manual;                          // its page, as in "topdownd-list(1)"; several commands may share one
    int (*check)(const struct options *options); // whether the options are compatible: 0, or -EINVAL after printing why
    int (*run)(const struct options *options);   // returns the exit status
};

// Reads the command line; the default command is the first of `commands`. With --help or --version nothing else is
// checked, and *command is NULL if none was given. Returns 0, or -EINVAL after printing the mistake.
int options_parse(int argc, char **argv, const struct command *commands, size_t n, struct options *out,
                  const struct command **command);

// Prints the options of one command or, if `command` is NULL, all commands with the options of the first.
void options_help(const struct command *commands, size_t n, const struct command *command);

// Prints an entry of such a list: a name, the name of its value (NULL: it has none), and its help.
void options_print_entry(const char *name, const char *argument, const char *help);

#endif
