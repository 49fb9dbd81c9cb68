// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml/config.h"
#include "core/base/decimal.h"
#include "core/base/error.h"

enum {
    OPTION_HELP = 1,
    OPTION_VERSION,
    OPTION_CONFIG,
    OPTION_PMU,
    OPTION_SYSFS,
    OPTION_PROCFS,
    OPTION_DATA,
    OPTION_RUN,
    OPTION_SOCKET,
    OPTION_FOR,
    OPTION_END,
    OPTION_SPEC,
    OPTION_FORMAT,
    OPTION_CPUID,
    OPTION_COUNTS,
    OPTION_SCALED,
    OPTION_SPEED,
    OPTION_RECORD,
    OPTION_RECORD_SIZE
};

// What was said of yield on the command line.
struct yield_words {
    const char *length; // --for
    bool end;           // --end
};

void options_help(void) {
    (void)puts(
        "Usage: topdownd [COMMAND] [OPTION]...\n"
        "Measures what this host's CPUs are bound by, all the time, and serves it to Prometheus.\n"
        "\n"
        "Commands:\n"
        "  run                 measure and serve, in the foreground (the default)\n"
        "  check-config        check the configuration, say which profile this host gets, and exit\n"
        "  yield               have the running daemon hand all counters over to others, and exit\n"
        "  list cpus|groups|metrics|events\n"
        "                      show what is known of this CPU, or of another: topdownd list --help\n"
        "  eval                evaluate a spec's metrics over given counts, print a JSON object, and exit\n"
        "\n"
        "Options:\n"
        "  --config FILE       configuration (" TOPDOWND_SYSCONFDIR "/topdownd/topdownd.yaml; conf.d/*.yaml\n"
        "                      beside it is merged)\n"
        "  --pmu KIND          auto: what this host has (the default)\n"
        "                      linux: the kernel's counters\n"
        "                      sim: a simulated two-socket Neoverse V2 host; sim:hybrid: one with three types\n"
        "                      of cores; sim:FILE: another scenario\n"
        "                      replay:FILE: what run --record wrote, or a log of perf stat -I with -x or -j\n"
        "  --speed N           of a replay: N times as fast as it was (1); 0: to its end at once\n"
        "  --record FILE       write every reading to FILE; what was there before is in FILE.1, FILE.2 and so on\n"
        "  --record.size SIZE  of all of them together at most (256M)\n"
        "  --path.sysfs DIR    where sysfs is mounted (/sys)\n"
        "  --path.procfs DIR   where procfs is mounted (/proc)\n"
        "  --path.data DIR     folder that holds specs/ and scenarios/ (found beside the program)\n"
        "  --path.run DIR      folder of the control socket (what systemd makes, /run/topdownd)\n"
        "  --for TIME          yield: for how long, 1s to 1h; it ends by itself\n"
        "  --end               yield: take the counters back now\n"
        "  --socket PATH       yield: the daemon's control socket (/run/topdownd/control.sock)\n"
        "  --spec WHAT         eval: a vendor's file, or a folder of them; of a replayed log of perf: the name of\n"
        "                      the CPU's spec (the one that knows most of its events)\n"
        "  --format KIND       eval: arm or perf (by what is there)\n"
        "  --cpuid ID          eval: the CPU, as in GenuineIntel-6-8F-4 or 0x410fd4f0\n"
        "  --counts FILE       eval: a JSON object of names and numbers\n"
        "  --scaled            eval: apply each metric's ScaleUnit\n"
        "  --help, --version\n"
        "\n"
        "Exit status: 0 ended on request, 1 failed while running, 2 wrong command line, configuration or\n"
        "environment: nothing was started.\n"
        "Manuals: topdownd(8), topdownd.yaml(5).");
}

static int fail(const char *what, const char *word, const char *suggestion) {
    if (suggestion)
        (void)fprintf(stderr, "topdownd: %s '%s': did you mean '%s'? --help tells all\n", what, word, suggestion);
    else
        (void)fprintf(stderr, "topdownd: %s '%s': --help tells what there is\n", what, word);
    return -EINVAL;
}

int options_parse_pmu(const char *word, struct options *options) {
    static const char *const kinds[] = {"auto", "linux", "sim"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(word, kinds[i]) == 0) {
            options->pmu = (enum pmu_kind)i;
            options->scenario = NULL;
            return 0;
        }
    }
    if (strncmp(word, "sim:", 4) == 0 && word[4] != '\0') {
        options->pmu = PMU_SIM;
        options->scenario = word + 4;
        return 0;
    }
    if (strncmp(word, "replay:", 7) == 0 && word[7] != '\0') {
        options->pmu = PMU_REPLAY;
        options->replay = word + 7;
        return 0;
    }
    if (strcmp(word, "sim:") == 0 || strcmp(word, "replay:") == 0)
        return fail("which file? There is none behind", word, NULL);
    return fail("there is no PMU", word, error_suggest(word, kinds, 3));
}

static int say(const char *what) {
    (void)fprintf(stderr, "topdownd: %s\n", what);
    return -EINVAL;
}

static int parse_command(int argc, char **argv, struct options *options) {
    static const char *const commands[] = {"run", "check-config", "yield", "eval", "list"};
    if (optind == argc)
        return 0;
    if (strcmp(argv[optind], commands[4]) == 0)
        return say("the command list comes first, and its options after it");
    if (optind + 1 < argc)
        return fail("there is one command too many:", argv[optind + 1], NULL);
    for (int i = 0; i < 4; i++) {
        if (strcmp(argv[optind], commands[i]) == 0) {
            options->command = (enum command)i;
            return 0;
        }
    }
    return fail("there is no command", argv[optind], error_suggest(argv[optind], commands, 5));
}

static int parse_yield(const struct yield_words *words, struct options *options) {
    double ns = 0;
    if (options->command != COMMAND_YIELD)
        return words->length || words->end || options->socket
                   ? say("--for, --end and --socket go with the command yield")
                   : 0;
    if (!words->length == !words->end)
        return say("for how long? 'topdownd yield --for 60s', or 'topdownd yield --end' to end it now");
    int r = words->length ? decimal_read_duration(words->length, &ns) : 0;
    if (r < 0)
        return say("--for takes a number and ms, s, m or h, such as 60s");
    if (words->length && (ns < 1e9 || ns > 3600e9))
        return say("--for is out of range: 1s to 1h are allowed");
    options->yield_seconds = ns * 1e-9;
    return 0;
}

static int check_eval(const struct options *options) {
    bool given =
        options->eval.counts || options->eval.cpuid || options->eval.scaled || options->eval.format != SPEC_FORMAT_ANY;
    if (options->command != COMMAND_EVAL)
        return given ? say("--format, --cpuid, --counts and --scaled go with the command eval") : 0;
    if (!options->spec || !options->eval.counts)
        return say("what over which counts? 'topdownd eval --spec FILE_OR_FOLDER --counts FILE'");
    return 0;
}

static int parse_format(const char *word, enum spec_format *out) {
    static const char *const formats[] = {"arm", "perf"};
    for (int i = 0; i < 2; i++)
        if (strcmp(word, formats[i]) == 0) {
            *out = i == 0 ? SPEC_FORMAT_ARM : SPEC_FORMAT_PERF;
            return 0;
        }
    return fail("there is no format", word, error_suggest(word, formats, 2));
}

// The options of eval; -ENOENT for any other.
static int parse_eval_option(int option, struct options *options) {
    switch (option) {
    case OPTION_FORMAT:
        return parse_format(optarg, &options->eval.format);
    case OPTION_CPUID:
        options->eval.cpuid = optarg;
        return 0;
    case OPTION_COUNTS:
        options->eval.counts = optarg;
        return 0;
    case OPTION_SCALED:
        options->eval.scaled = true;
        return 0;
    default:
        return -ENOENT;
    }
}

static int parse_speed(const char *word, double *out) {
    struct decimal number;
    const char *end = word;
    if (!decimal_read(&end, &number) || *end != '\0' || decimal_value(number) > 1e6)
        return say("--speed takes a number from 0 to 1000000, such as 10");
    *out = decimal_value(number);
    return 0;
}

static int parse_size(const char *word, uint64_t *out) {
    double bytes;
    if (decimal_read_size(word, &bytes) < 0 || bytes < (double)CONFIG_RECORD_BYTES_MIN ||
        bytes > (double)CONFIG_RECORD_BYTES_MAX)
        return say("--record.size takes a number and M or G, from 1M to 1024G, such as 256M");
    *out = (uint64_t)bytes;
    return 0;
}

static int check_replay(const struct options *options) {
    if (options->record && options->record[0] == '\0')
        return say("--record takes the path of a file");
    if (options->record && options->pmu == PMU_REPLAY)
        return say("--record does not go with a replay: it is a recording already");
    if (options->spec && options->pmu != PMU_REPLAY && options->command != COMMAND_EVAL)
        return say("--spec goes with the command eval, and with --pmu replay:FILE");
    return 0;
}

// The options of recording and replaying; -ENOENT for any other.
static int parse_recording_option(int option, struct options *options) {
    switch (option) {
    case OPTION_SPEED:
        return parse_speed(optarg, &options->speed);
    case OPTION_SPEC:
        options->spec = optarg;
        return 0;
    case OPTION_RECORD:
        options->record = optarg;
        return 0;
    case OPTION_RECORD_SIZE:
        return parse_size(optarg, &options->record_bytes);
    default:
        return -ENOENT;
    }
}

static int parse_option(int option, struct options *options, struct yield_words *words) {
    switch (option) {
    case OPTION_CONFIG:
        options->config = optarg;
        options->config_given = true;
        return 0;
    case OPTION_PMU:
        return options_parse_pmu(optarg, options);
    case OPTION_SYSFS:
        options->sysfs = optarg;
        return 0;
    case OPTION_PROCFS:
        options->procfs = optarg;
        return 0;
    case OPTION_DATA:
        options->data = optarg;
        return 0;
    case OPTION_RUN:
        options->run = optarg;
        return 0;
    case OPTION_SOCKET:
        options->socket = optarg;
        return 0;
    case OPTION_FOR:
        words->length = optarg;
        return 0;
    case OPTION_END:
        words->end = true;
        return 0;
    default:
        return -EINVAL; // getopt_long has said why
    }
}

int options_parse(int argc, char **argv, struct options *out) {
    static const struct option longs[] = {
        {"help", no_argument, NULL, OPTION_HELP},
        {"version", no_argument, NULL, OPTION_VERSION},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {"pmu", required_argument, NULL, OPTION_PMU},
        {"speed", required_argument, NULL, OPTION_SPEED},
        {"record", required_argument, NULL, OPTION_RECORD},
        {"record.size", required_argument, NULL, OPTION_RECORD_SIZE},
        {"path.sysfs", required_argument, NULL, OPTION_SYSFS},
        {"path.procfs", required_argument, NULL, OPTION_PROCFS},
        {"path.data", required_argument, NULL, OPTION_DATA},
        {"path.run", required_argument, NULL, OPTION_RUN},
        {"socket", required_argument, NULL, OPTION_SOCKET},
        {"for", required_argument, NULL, OPTION_FOR},
        {"end", no_argument, NULL, OPTION_END},
        {"spec", required_argument, NULL, OPTION_SPEC},
        {"format", required_argument, NULL, OPTION_FORMAT},
        {"cpuid", required_argument, NULL, OPTION_CPUID},
        {"counts", required_argument, NULL, OPTION_COUNTS},
        {"scaled", no_argument, NULL, OPTION_SCALED},
        {NULL, 0, NULL, 0},
    };
    struct options options = {
        .config = TOPDOWND_SYSCONFDIR "/topdownd/topdownd.yaml", .sysfs = "/sys", .procfs = "/proc", .speed = 1};
    struct yield_words words = {0};
    for (int option; (option = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (option == OPTION_HELP || option == OPTION_VERSION) {
            out->command = option == OPTION_HELP ? COMMAND_HELP : COMMAND_VERSION;
            return 0;
        }
        int r = parse_eval_option(option, &options);
        if (r == -ENOENT)
            r = parse_recording_option(option, &options);
        if (r == -ENOENT)
            r = parse_option(option, &options, &words);
        if (r < 0)
            return r;
    }
    int r = parse_command(argc, argv, &options);
    if (r == 0)
        r = parse_yield(&words, &options);
    if (r == 0)
        r = check_eval(&options);
    if (r == 0)
        r = check_replay(&options);
    if (r < 0)
        return r;
    *out = options;
    return 0;
}
