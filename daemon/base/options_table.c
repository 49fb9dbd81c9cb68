// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/options_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml/config.h"
#include "core/base/decimal.h"
#include "core/base/error.h"
#include "daemon/base/options_error.h"

enum { HOSTNAME_BYTES_MAX = 253 }; // of a name in the DNS

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

// ---- readers ----

static void *member_of(const struct option_row *row, struct options *options) { return (char *)options + row->member; }

static int read_text(const struct option_row *row, const char *word, struct options *options) {
    *(const char **)member_of(row, options) = word;
    return 0;
}

static int read_flag(const struct option_row *row, const char *word, struct options *options) {
    (void)word;
    *(bool *)member_of(row, options) = true;
    return 0;
}

static int read_hostname(const struct option_row *row, const char *word, struct options *options) {
    if (word[0] == '\0' || strlen(word) > HOSTNAME_BYTES_MAX || strpbrk(word, " $()"))
        return options_say("--hostname takes the name of this host, such as node-17");
    return read_text(row, word, options);
}

static int read_config(const struct option_row *row, const char *word, struct options *options) {
    options->config_given = true;
    return read_text(row, word, options);
}

static int read_pmu(const struct option_row *row, const char *word, struct options *options) {
    static const char *const kinds[] = {[PMU_AUTO] = "auto", [PMU_LINUX] = "linux", [PMU_SIM] = "sim"};
    (void)row;
    for (size_t i = 0; i < N_OF(kinds); i++) {
        if (strcmp(word, kinds[i]) == 0) {
            options->pmu = (enum pmu_kind)i;
            options->scenario = NULL;
            return 0;
        }
    }
    if (strcmp(word, "sim:") == 0 || strcmp(word, "replay:") == 0)
        return options_refuse("which file? There is none behind", word, NULL);
    if (strncmp(word, "sim:", strlen("sim:")) == 0) {
        options->pmu = PMU_SIM;
        options->scenario = word + strlen("sim:");
        return 0;
    }
    if (strncmp(word, "replay:", strlen("replay:")) == 0) {
        options->pmu = PMU_REPLAY;
        options->replay.path = word + strlen("replay:");
        return 0;
    }
    return options_refuse("there is no PMU", word, error_suggest(word, kinds, N_OF(kinds)));
}

static int read_replay(const struct option_row *row, const char *word, struct options *options) {
    if (word[0] == '\0')
        return options_say("--replay takes the path of a recording");
    options->pmu = PMU_REPLAY;
    return read_text(row, word, options);
}

static int read_speed(const struct option_row *row, const char *word, struct options *options) {
    struct decimal number;
    const char *end = word;
    (void)row;
    if (!decimal_read(&end, &number) || *end != '\0' || decimal_value(number) > 1e6)
        return options_say("--speed takes a number from 0 to 1000000, such as 10");
    options->replay.speed = decimal_value(number);
    options->replay.speed_given = true;
    return 0;
}

static int read_record(const struct option_row *row, const char *word, struct options *options) {
    return word[0] == '\0' ? options_say("--record takes the path of a file") : read_text(row, word, options);
}

static int read_textfile(const struct option_row *row, const char *word, struct options *options) {
    return word[0] == '\0' ? options_say("--textfile takes the path of a folder") : read_text(row, word, options);
}

static int read_size(const struct option_row *row, const char *word, struct options *options) {
    double bytes;
    (void)row;
    if (decimal_read_size(word, &bytes) < 0 || bytes < (double)CONFIG_RECORD_BYTES_MIN ||
        bytes > (double)CONFIG_RECORD_BYTES_MAX)
        return options_say("--record.size takes a number and M or G, from 1M to 1024G, such as 256M");
    options->record_bytes = (uint64_t)bytes;
    return 0;
}

static int read_for(const struct option_row *row, const char *word, struct options *options) {
    double ns;
    (void)row;
    if (decimal_read_duration(word, &ns) < 0)
        return options_say("--for takes a number and ms, s, m or h, such as 60s");
    if (ns < 1e9 || ns > 3600e9)
        return options_say("--for is out of range: 1s to 1h are allowed");
    options->yield.seconds = ns * 1e-9;
    return 0;
}

static int read_span(const struct option_row *row, const char *word, struct options *options) {
    double ns;
    if (decimal_read_duration(word, &ns) < 0 || ns < 0.1e9 || ns > 86400e9) {
        (void)fprintf(stderr, "topdownd: --%s takes a number and ms, s, m or h, from 100ms to 24h, such as 10s\n",
                      row->name);
        return -EINVAL;
    }
    *(double *)member_of(row, options) = ns * 1e-9;
    return 0;
}

static int read_listen(const struct option_row *row, const char *word, struct options *options) {
    struct options_web *web = &options->web;
    (void)row;
    if (web->n_listen == OPTIONS_LISTEN_MAX)
        return options_say("there are 16 addresses at most: leave one out");
    web->listen[web->n_listen++] = word;
    return 0;
}

static int read_format(const struct option_row *row, const char *word, struct options *options) {
    static const char *const names[] = {"arm", "perf", "perfmon"};
    static const enum spec_format formats[] = {SPEC_FORMAT_ARM, SPEC_FORMAT_PERF, SPEC_FORMAT_PERFMON};
    (void)row;
    for (size_t i = 0; i < N_OF(names); i++)
        if (strcmp(word, names[i]) == 0) {
            options->eval.format = formats[i];
            return 0;
        }
    return options_refuse("there is no format", word, error_suggest(word, names, N_OF(names)));
}

// ---- the table ----

#define MEMBER(name) offsetof(struct options, name)

const struct option_row option_rows[OPTION_ROWS] = {
    {"config", "FILE", OPTIONS_HOST | OPTIONS_DIFF, read_config, MEMBER(config),
     "configuration (" TOPDOWND_SYSCONFDIR "/topdownd/topdownd.yaml; conf.d/*.yaml beside it is merged)"},
    {"pmu", "KIND", OPTIONS_HOST, read_pmu, MEMBER(pmu),
     "auto: what this host has (the default)\n"
     "linux: the kernel's counters\n"
     "sim:NAME: a simulated host, such as sim:zen4 ('topdownd list scenarios' has all of them; sim alone is "
     "sim:demo)\n"
     "sim:FILE: a simulated host of your own, a path with a folder or an ending\n"
     "replay:FILE: what run --record wrote, or a log of perf stat"},
    {"path.sysfs", "DIR", OPTIONS_HOST | OPTIONS_MEMORY, read_text, MEMBER(paths.sysfs),
     "where sysfs is mounted (/sys)"},
    {"path.procfs", "DIR", OPTIONS_HOST, read_text, MEMBER(paths.procfs), "where procfs is mounted (/proc)"},
    {"hostname", "NAME", OPTIONS_HOST, read_hostname, MEMBER(paths.hostname),
     "name of this host, for hosts in the configuration and for pages (the kernel's, which in a container is not the "
     "host's)"},
    {"path.data", "DIR", OPTIONS_HOST | OPTIONS_DIFF, read_text, MEMBER(paths.data),
     "folder that holds specs/ and scenarios/ (found beside the program)"},
    {"speed", "N", OPTIONS_MEASURE | OPTIONS_TOP, read_speed, MEMBER(replay.speed),
     "of a replay: N times as fast as it was (1); 0: to its end at once"},
    {"spec", "NAME[@PMU]", OPTIONS_MEASURE | OPTIONS_TOP, read_text, MEMBER(spec),
     "of a replayed log of perf: the name of the CPU's spec (the one that knows most of its events), and of several "
     "core types in the log the PMU of the one to replay"},
    {"record", "FILE", OPTIONS_MEASURE, read_record, MEMBER(record),
     "write every reading to FILE; what was there before is in FILE.1, FILE.2 and so on"},
    {"record.size", "SIZE", OPTIONS_MEASURE, read_size, MEMBER(record_bytes), "of all of them together at most (256M)"},
    {"web.listen-address", "ADDRESS", OPTIONS_MEASURE, read_listen, 0,
     "serve on 127.0.0.1:10813, [::1]:10813 or (all of this host's) :10813, instead of listen in the configuration; "
     "none: open no port; may be given again for another one"},
    {"listen", "ADDRESS", OPTIONS_MEASURE, read_listen, 0, "the same"},
    {"web.systemd-socket", NULL, OPTIONS_MEASURE, read_flag, MEMBER(web.systemd_socket),
     "serve on the sockets that systemd passes (topdownd.socket), instead of addresses"},
    {"verify", NULL, OPTIONS_DOCTOR, read_flag, MEMBER(doctor.verify),
     "run small programs of which it is known what they are bound by and what they count, for a minute or two, and "
     "compare; every reading is recorded"},
    {"bundle", "FILE", OPTIONS_DOCTOR, read_text, MEMBER(doctor.bundle),
     "collect what a bug report needs in FILE, a .tar.gz, without secrets; look at it before you send it"},
    {"force", NULL, OPTIONS_DOCTOR, read_flag, MEMBER(doctor.force), "write over FILE"},
    {"web.config.file", "FILE", OPTIONS_MEASURE | OPTIONS_DOCTOR, read_text, MEMBER(web.config),
     "TLS, passwords and headers of the server, as in the file of Prometheus' exporters"},
    {"textfile", "DIR", OPTIONS_MEASURE, read_textfile, MEMBER(textfile),
     "write the page for Prometheus to DIR/topdownd.prom every 10 s, for node_exporter's collector of text files"},
    {"for", "TIME", OPTIONS_YIELD, read_for, MEMBER(yield.seconds), "for how long, 1s to 1h; it ends by itself"},
    {"end", NULL, OPTIONS_YIELD, read_flag, MEMBER(yield.end), "take the counters back now"},
    {"path.run", "DIR", OPTIONS_MEASURE | OPTIONS_ASK | OPTIONS_MEMORY, read_text, MEMBER(paths.run),
     "folder of the control socket (what systemd makes, /run/topdownd)"},
    {"path.state", "DIR", OPTIONS_MEASURE, read_text, MEMBER(paths.state),
     "folder of what a restart is to know: since when the host has its bottleneck, and the history (what systemd "
     "makes; "
     "else none)"},
    {"socket", "PATH", OPTIONS_ASK, read_text, MEMBER(paths.socket),
     "the daemon's control socket (/run/topdownd/control.sock)"},
    {"cpu", "NAME", OPTIONS_LIST, read_text, MEMBER(list.cpu),
     "of that CPU: a spec, a name such as 'EPYC 9654' or 'Graviton 4', or (cpus) a vendor"},
    {"group", "GROUP", OPTIONS_LIST, read_text, MEMBER(list.group), "metrics: only those of that metric group"},
    {"host", "NAME", OPTIONS_CHECK, read_text, MEMBER(check.host), "say which profile a host of this name would take"},
    {"cpu", "SPEC", OPTIONS_CHECK, read_text, MEMBER(check.cpu),
     "say which profile a host with this CPU would take, as 'topdownd list cpus' names it"},
    {"strict", NULL, OPTIONS_CHECK, read_flag, MEMBER(check.strict), "fail if a setting is unwise"},
    {"duration", "TIME", OPTIONS_MEASURE_NOW | OPTIONS_OPPORTUNITIES, read_span, MEMBER(measure.seconds),
     "how long to measure (10s; a command: until it ends)"},
    {"interval", "TIME", OPTIONS_MEASURE_NOW, read_span, MEMBER(measure.interval_seconds),
     "tell what each interval of this length was like, too"},
    {"cpus", "LIST", OPTIONS_MEASURE_NOW | OPTIONS_OPPORTUNITIES, read_text, MEMBER(measure.cpus),
     "measure these CPUs, such as 0-3,8 (all)"},
    {"groups", "GROUPS", OPTIONS_MEASURE_NOW, read_text, MEMBER(measure.groups),
     "measure these metric groups, such as Topdown_L1,MPKI ('topdownd list groups' has all of them; Defaults are the "
     "spec's own), and do not follow the bottleneck"},
    {"by", "WHAT", OPTIONS_MEASURE_NOW, read_text, MEMBER(measure.by),
     "tell of the whole host (host), each socket too (socket), or each CPU too (cpu)"},
    {"csv", NULL, OPTIONS_MEASURE_NOW, read_flag, MEMBER(measure.csv),
     "print comma-separated values: a row for each interval, scope and metric"},
    {"by", "WHAT", OPTIONS_DIFF, read_text, MEMBER(diff.by),
     "compare the whole host (host), each socket too (socket), or each CPU too (cpu)"},
    {"json", NULL,
     OPTIONS_LIST | OPTIONS_DOCTOR | OPTIONS_DIFF | OPTIONS_EXPLAIN | OPTIONS_CHECK | OPTIONS_MEASURE_NOW |
         OPTIONS_MEMORY | OPTIONS_YIELD | OPTIONS_RELOAD | OPTIONS_MARK | OPTIONS_OPPORTUNITIES,
     read_flag, MEMBER(json), "print JSON"},
    {"spec", "PATH", OPTIONS_EVAL, read_text, MEMBER(spec), "a vendor's file, or a folder of them"},
    {"counts", "FILE", OPTIONS_EVAL, read_text, MEMBER(eval.counts), "a JSON object of names and numbers"},
    {"format", "KIND", OPTIONS_EVAL, read_format, MEMBER(eval.format), "arm, perf or perfmon (by what is there)"},
    {"cpuid", "ID", OPTIONS_EVAL, read_text, MEMBER(eval.cpuid), "the CPU, as in GenuineIntel-6-8F-4 or 0x410fd4f0"},
    {"scaled", NULL, OPTIONS_EVAL, read_flag, MEMBER(eval.scaled), "apply each metric's ScaleUnit"},
    {"url", "URL", OPTIONS_TOP, read_text, MEMBER(top.url),
     "show what the daemon there says, such as http://web-1:10813"},
    {"replay", "FILE", OPTIONS_TOP, read_replay, MEMBER(replay.path),
     "show what run --record wrote; the same as --pmu replay:FILE"},
    {"cacert", "FILE", OPTIONS_TOP, read_text, MEMBER(top.cacert),
     "certificates of the authorities that may vouch for a daemon with https (the host's)"},
    {"user", "NAME", OPTIONS_TOP, read_text, MEMBER(top.user),
     "who asks; the password is in the environment variable TOPDOWND_PASSWORD"},
    {"password-file", "FILE", OPTIONS_TOP, read_text, MEMBER(top.password_file), "or in the first line of FILE"},
    {"once", NULL, OPTIONS_TOP, read_flag, MEMBER(top.once), "print one screen as text, and end"},
    {"help", NULL, OPTIONS_ALL, read_flag, MEMBER(help),
     "say how to use topdownd, or the command, and exit; -h is the same"},
    {"version", NULL, OPTIONS_ALL, read_flag, MEMBER(version), "say which version it is, and exit"},
};
