// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config.h"
#include "core/base/error.h"
#include "daemon/base/options.h"
#include "daemon/base/options_error.h"
#include "daemon/base/terminal.h"
#include "daemon/check/check_config.h"
#include "daemon/command/command_reload.h"
#include "daemon/command/diff.h"
#include "daemon/command/eval.h"
#include "daemon/command/explain.h"
#include "daemon/command/list.h"
#include "daemon/command/mark.h"
#include "daemon/command/memory.h"
#include "daemon/command/top.h"
#include "daemon/command/yield.h"
#include "daemon/doctor/doctor.h"
#include "daemon/measure/measure_command.h"
#include "daemon/measure/opportunities_command.h"
#include "daemon/run/service.h"

enum { EXIT_WRONG = 2, HELP_MAX = 160 };

// ---- incompatible options ----

static int check_measure(const struct options *options) {
    if (options->record && options->pmu == PMU_REPLAY)
        return options_say("--record does not go with a replay: it is a recording already");
    if (options->record_bytes > 0 && options->pmu == PMU_REPLAY)
        return options_say("--record.size does not go with a replay: nothing is recorded");
    if (options->replay.speed_given && options->pmu != PMU_REPLAY)
        return options_say("--speed goes with --pmu replay:FILE: what is measured takes its time");
    if (options->spec && options->pmu != PMU_REPLAY)
        return options_say("--spec goes with the command eval, and with --pmu replay:FILE");
    if (options->web.systemd_socket && options->web.n_listen > 0)
        return options_say(
            "--web.systemd-socket does not go with --web.listen-address: the socket unit has the addresses");
    return 0;
}

static int check_yield(const struct options *options) {
    if ((options->yield.seconds > 0) == options->yield.end)
        return options_say("for how long? 'topdownd yield --for 60s', or 'topdownd yield --end' to end it now");
    return 0;
}

static int check_eval(const struct options *options) {
    if (!options->spec || !options->eval.counts)
        return options_say("what over which counts? 'topdownd eval --spec FILE_OR_FOLDER --counts FILE'");
    return 0;
}

// ---- check-config ----

static void print_config_keys(void) {
    struct config_key_help key;
    (void)puts("\nKeys of the configuration, with their defaults; * may stand in a profile, too (topdownd.yaml(5)):");
    for (size_t i = 0; config_describe_key(i, &key); i++) {
        char help[HELP_MAX];
        (void)snprintf(help, sizeof help, "%s%s%s%s", key.help, key.standard ? " (" : "",
                       key.standard ? key.standard : "", key.standard ? ")" : "");
        options_print_entry(key.name, key.in_profile ? "*" : NULL, help);
    }
}

static int check_check_config(const struct options *options) {
    int r = check_measure(options);
    return r < 0 ? r : check_config_check(options);
}

// ---- the table ----

static int help_run(const struct options *options);

static const struct command commands[] = {
    {.name = "run",
     .sets = OPTIONS_HOST | OPTIONS_MEASURE,
     .summary = "measure and serve, in the foreground (the default)",
     .help = "Measures what this host's CPUs are bound by, and serves it over HTTP, in the foreground.",
     .example = "topdownd run --pmu sim --web.listen-address 127.0.0.1:10813",
     .manual = "topdownd(8)",
     .check = check_measure,
     .run = service_run},
    {.name = "check-config",
     .sets = OPTIONS_HOST | OPTIONS_MEASURE | OPTIONS_CHECK,
     .word = "[FILE]",
     .summary = "check the configuration, say which profile this host gets, and exit",
     .help = "Checks the configuration (FILE is the same as --config FILE), says which profile this host gets and\n"
             "what it measures, and warns of settings that are allowed and unwise. The exit status is 2 if there\n"
             "is a mistake, and 1 with --strict if there is a warning of the configuration.",
     .more = print_config_keys,
     .example = "topdownd check-config --strict /etc/topdownd/topdownd.yaml",
     .manual = "topdownd-check-config(8)",
     .check = check_check_config,
     .run = check_config_run},
    {.name = "reload",
     .sets = OPTIONS_RELOAD | OPTIONS_ASK,
     .summary = "have the running daemon read its configuration again, and exit",
     .help = "Has the running daemon read configuration and specs again, and returns when they are in\n"
             "force. If they are wrong, nothing changes, and the mistakes are shown.",
     .example = "topdownd reload",
     .manual = "topdownd-yield(8)",
     .run = command_reload},
    {.name = "yield",
     .sets = OPTIONS_YIELD | OPTIONS_ASK,
     .summary = "have the running daemon hand all counters over to others, and exit",
     .help = "Has the running daemon hand all counters over to others, and returns when they are free.",
     .example = "topdownd yield --for 60s && perf stat -a sleep 50",
     .manual = "topdownd-yield(8)",
     .check = check_yield,
     .run = yield_run},
    {.name = "mark",
     .word = "TEXT",
     .sets = OPTIONS_MARK | OPTIONS_ASK,
     .summary = "note in the running daemon's history that something has happened now",
     .help = "Notes in the running daemon's history that something has happened now, such as a deployment.\n"
             "The page shows it beside what metrics were then, and a restart keeps it.",
     .example = "topdownd mark 'deploy db 4.2'",
     .manual = "topdownd-yield(8)",
     .check = mark_check,
     .run = mark_run},
    {.name = "list",
     .word = "cpus|spec|groups|metrics|events|pmus|boxes|scenarios",
     .sets = OPTIONS_LIST | OPTIONS_HOST,
     .summary = "show what is known of this CPU, or of another",
     .help = "Shows what is known of this host's CPU, or of any other that has a spec.\n"
             "\n"
             "  cpus                specs, and what identifies their CPUs\n"
             "  spec                a spec as one file, to read or to begin an own one with\n"
             "  groups              metric groups, which a profile names\n"
             "  metrics             metrics, with their names in Prometheus\n"
             "  events              events, with the perf attributes that would be used\n"
             "  pmus                PMUs outside the cores, with their events\n"
             "  boxes               PMUs outside the cores that this host has, and the CPUs that read them\n"
             "  scenarios           simulated hosts, for --pmu sim:NAME",
     .example = "topdownd list metrics --cpu zen4 --group MPKI",
     .manual = "topdownd-list(1)",
     .check = list_check,
     .run = list_run},
    {.name = "doctor",
     .sets = OPTIONS_DOCTOR | OPTIONS_HOST | OPTIONS_ASK,
     .summary = "say whether this host is fit to be measured, and what to do if not",
     .help = "Says whether this host is fit to be measured: its counters, the rights to use them, who else\n"
             "does, files, and what the platform is. It changes nothing. The exit status is 1 if something\n"
             "keeps topdownd from measuring. --verify runs programs of which the truth is known, and --bundle\n"
             "collects what a bug report needs.",
     .example = "topdownd doctor --json",
     .manual = "topdownd-doctor(8)",
     .check = doctor_check,
     .run = doctor_run},
    {.name = "top",
     .sets = OPTIONS_HOST | OPTIONS_TOP,
     .summary = "show a host live in the terminal: what it is bound by, since when, where",
     .help = "Shows a host in the terminal, live: what it is bound by, since when, and what next; level 1 with its\n"
             "last minutes, the tree, CPUs and sockets sorted by any metric. '?' tells the keys.\n"
             "Without --url, --replay and --pmu it shows what the daemon on 127.0.0.1:10813 says; without a\n"
             "daemon it measures this host itself, as long as it is shown.",
     .example = "topdownd top --url http://web-1:10813",
     .manual = "topdownd-top(1)",
     .check = top_check,
     .run = top_run},
    {.name = "explain",
     .sets = OPTIONS_EXPLAIN | OPTIONS_HOST,
     .summary = "say what would be measured here, how often, at which cost, and what not",
     .help = "Says what would be measured on this host, before anything is opened: event groups and the counters\n"
             "that they take, their shares of the time, files, memory, interrupts and series, and what cannot be\n"
             "measured here and why.",
     .example = "topdownd explain --pmu sim:zen4",
     .manual = "topdownd-check-config(8)",
     .check = explain_check,
     .run = explain_run},
    {.name = "measure",
     .word = "[-- COMMAND]",
     .starts = true,
     .sets = OPTIONS_MEASURE_NOW | OPTIONS_HOST | OPTIONS_ASK,
     .summary = "measure this host, or a command, for a while, and say what it was bound by",
     .help = "Measures this host for a while, or a command with all that it starts until it ends, and says what it\n"
             "was bound by: level 1, the metric groups that its largest part leads to, and the next step. The exit\n"
             "status is 1 if nothing could be measured, else that of the command.",
     .example = "topdownd measure --duration 10s --interval 1s",
     .manual = "topdownd-measure(1)",
     .check = measure_command_check,
     .run = measure_command_run},
    {.name = "opportunities",
     .sets = OPTIONS_OPPORTUNITIES | OPTIONS_HOST | OPTIONS_ASK,
     .summary = "measure this host for a while, and say what each action could win at most",
     .help = "Measures this host for a while, and says for each action, such as huge pages or another code layout,\n"
             "how many pipeline slots it could win at most, with a 95 % interval, what to do, and what the bound\n"
             "assumes. Bounds overlap: never add them.",
     .example = "topdownd opportunities --pmu sim:sapphire-rapids",
     .manual = "topdownd-measure(1)",
     .check = opportunities_command_check,
     .run = opportunities_command_run},
    {.name = "diff",
     .word = "BEFORE AFTER",
     .sets = OPTIONS_DIFF,
     .summary = "compare two recordings: what has changed, and how certain that is",
     .help = "Compares two recordings, or two parts of one (FILE@FROM-TO, in seconds from its beginning):\n"
             "every metric's change with its 95 % interval, and whether it can be told apart from nothing.\n"
             "The exit status is 1 if instructions a cycle or the retiring share have become lower.",
     .example = "topdownd diff yesterday.rec today.rec --by socket",
     .manual = "topdownd-diff(1)",
     .check = diff_check,
     .run = diff_run},
    {.name = "eval",
     .sets = OPTIONS_EVAL,
     .summary = "evaluate a spec's metrics over given counts, print a JSON object, and exit",
     .help = "Evaluates the metrics of a vendor's file over given counts, and prints a JSON object.",
     .example = "topdownd eval --spec specs/neoverse-v2.json --counts counts.json",
     .manual = "topdownd-list(1)",
     .check = check_eval,
     .run = eval_run},
    {.name = "memory",
     .word = "[save]",
     .sets = OPTIONS_MEMORY,
     .summary = "say how fast this host's memory can be; save it for the service",
     .help = "Says how fast the memory of each socket can be: its channels with modules times what a channel can\n"
             "move. 'topdownd memory save', as root, leaves the latter in the runtime folder, for the service.",
     .example = "topdownd memory",
     .manual = "topdownd-memory(8)",
     .check = memory_check,
     .run = memory_run},
    {.name = "help",
     .word = "[COMMAND]",
     .summary = "say how to use topdownd, or a command",
     .help = "Says how to use topdownd or, like topdownd COMMAND --help, one of its commands.",
     .example = "topdownd help list",
     .manual = "topdownd(8)",
     .run = help_run},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int help_run(const struct options *options) {
    const struct command *command = NULL;
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (options->word && strcmp(names[i], options->word) == 0)
            command = &commands[i];
    }
    if (options->word && !command) {
        (void)options_refuse("there is no command", options->word, error_suggest(options->word, names, COMMANDS));
        return EXIT_WRONG;
    }
    options_help(commands, COMMANDS, command);
    return EXIT_SUCCESS;
}

int command_main(int argc, char **argv, const char *revision) {
    struct options options;
    const struct command *command;
    if (options_parse(argc, argv, commands, COMMANDS, &options, &command) < 0)
        return EXIT_WRONG;
    options.revision = revision;
    int status = EXIT_SUCCESS;
    if (options.version)
        (void)printf("topdownd %s (%s)\n", TOPDOWND_VERSION, revision);
    else if (options.help)
        options_help(commands, COMMANDS, command);
    else
        status = command->run(&options);
    return terminal_flush() == TERMINAL_LOST ? EXIT_WRONG : status;
}
