// SPDX-License-Identifier: Apache-2.0
#include "daemon/bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/spawn.h"
#include "daemon/base/terminal.h"
#include "daemon/bundle/archive.h"
#include "daemon/bundle/bundle_parts.h"
#include "exporters/text/gzip.h"

enum { NAME_BYTES_MAX = 100, PATIENCE_S = 60, MODE = 0600 };

// ---- what this program says of the host ----

static const struct {
    const char *command, *option, *name, *why;
    bool asks;
} COMMANDS[] = {
    {"doctor", NULL, "doctor.txt", "what keeps this host from being measured", true},
    {"doctor", "--json", "doctor.json", "the same for programs", true},
    {"explain", NULL, "explain.txt", "what would be measured here, and what not and why", false},
    {"explain", "--json", "explain.json", "the same for programs", false},
    {"check-config", NULL, "check-config.txt", "what the configuration means for this host", false},
    {"list", "cpus", "list-cpus.txt", "the spec that this CPU has", false},
};

static void add_commands(struct bundle *bundle, struct terminal_progress *progress) {
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        struct spawn_words words;
        struct text text = {0};
        spawn_command(&words, COMMANDS[i].command, bundle->request->options, COMMANDS[i].asks);
        spawn_word(&words, COMMANDS[i].option);
        terminal_progress_show(progress, "collecting: topdownd %s", COMMANDS[i].command);
        int status = spawn_run(&words, PATIENCE_S, &text);
        bool for_programs = COMMANDS[i].option && strcmp(COMMANDS[i].option, "--json") == 0;
        if (status < 0)
            text_format(&text, "\n(no end: %s)\n", strerror(-status));
        else if (!for_programs)
            text_format(&text, "\n(exit status %d)\n", status);
        bundle_add_text(bundle, COMMANDS[i].name, COMMANDS[i].why, &text);
    }
}

static void add_version(struct bundle *bundle) {
    struct text text = {0};
    text_format(&text, "topdownd %s\nrevision %s\n", TOPDOWND_VERSION, bundle->request->options->revision);
    bundle_add_text(bundle, "version.txt", "the program", &text);
}

static void begin_manifest(struct bundle *bundle) {
    text_string(
        &bundle->manifest,
        "What a bug report about topdownd needs, collected by 'topdownd doctor --bundle'.\n\n"
        "Taken out: this host's name (HOST), users' names (USER), addresses other than the loopback (ADDRESS),\n"
        "hashes of passwords (HASH), users of the web configuration, and the files that it names (SECRET).\n"
        "Still there: this host's CPU, kernel and settings, names of the programs that use counters, paths outside\n"
        "of /home, and how much the CPUs had to do. Look at the files before you send them.\n\n");
}

// ---- writing ----

int bundle_check(const struct options *options, struct errors *errors) {
    struct stat status;
    if (lstat(options->doctor.bundle, &status) == 0 && !options->doctor.force)
        return errors_add(errors, options->doctor.bundle, 0, 0, "is there already: --force writes over it");
    return 0;
}

static int write_all(int fd, const struct text *text) {
    for (size_t at = 0; at < text->length;) {
        ssize_t n = write(fd, text->data + at, text->length - at);
        if (n < 0 && errno != EINTR)
            return -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

// Writes a file of its own and gives it the name when it is whole. Without --force, link(2) leaves what is there alone.
static int write_file(const char *path, bool force, const struct text *text) {
    char *part;
    if (asprintf(&part, "%s.XXXXXX", path) < 0)
        return -ENOMEM;
    int fd = mkostemp(part, O_CLOEXEC), r = fd < 0 ? -errno : 0;
    if (r == 0)
        r = fchmod(fd, MODE) < 0 ? -errno : write_all(fd, text);
    if (fd >= 0 && close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && (force ? rename(part, path) : link(part, path)) < 0)
        r = -errno;
    if (fd >= 0)
        (void)unlink(part);
    free(part);
    return r;
}

static int finish(struct bundle *bundle, struct errors *errors) {
    const struct options *options = bundle->request->options;
    struct text packed = {0};
    char name[NAME_BYTES_MAX];
    (void)snprintf(name, sizeof name, "%s/MANIFEST.txt", BUNDLE_FOLDER);
    archive_add(&bundle->archive, name, bundle->manifest.data, bundle->manifest.length, bundle->now);
    archive_end(&bundle->archive);
    int r = bundle->archive.failed || bundle->manifest.failed ? -ENOMEM : gzip_text(&bundle->archive, &packed);
    if (r == 0)
        r = write_file(options->doctor.bundle, options->doctor.force, &packed);
    if (r < 0 && r != -ENOMEM)
        r = errors_add(errors, options->doctor.bundle, 0, 0, "cannot be written: %s", strerror(-r));
    if (r == 0) {
        (void)fwrite(bundle->manifest.data, 1, bundle->manifest.length, stdout);
        (void)printf("\n%s: written, for you alone to read (mode 0600). Look at what is in it before you send it:\n"
                     "  tar xzf %s && less %s/*\n",
                     options->doctor.bundle, options->doctor.bundle, BUNDLE_FOLDER);
    }
    text_free(&packed);
    return r;
}

int bundle_write(const struct bundle_request *request, struct errors *errors) {
    struct bundle bundle = {.request = request, .now = time(NULL)};
    struct terminal_progress progress = {0};
    bundle_find_names(&bundle);
    if (bundle.redaction.failed) {
        redaction_deinit(&bundle.redaction);
        return -ENOMEM;
    }
    begin_manifest(&bundle);
    add_version(&bundle);
    add_commands(&bundle, &progress);
    terminal_progress_show(&progress, "collecting: the configuration and the kernel's files");
    bundle_add_configuration(&bundle);
    bundle_add_host(&bundle);
    terminal_progress_show(&progress, "collecting: the running daemon");
    bundle_add_daemon(&bundle);
    terminal_progress_show(&progress, "collecting: a recording of some seconds");
    bundle_add_recording(&bundle);
    bundle_add_verified(&bundle);
    terminal_progress_end(&progress);
    int r = finish(&bundle, errors);
    text_free(&bundle.archive);
    text_free(&bundle.manifest);
    redaction_deinit(&bundle.redaction);
    return r;
}
