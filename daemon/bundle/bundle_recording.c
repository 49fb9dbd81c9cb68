// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/recording/recording_file.h"
#include "core/recording/recording.h"
#include "daemon/base/spawn.h"
#include "daemon/bundle/bundle_parts.h"

// A recording holds the name of its host, and the path of the vendor's files. Both are in its headers, which are
// written anew.

enum { RECORDING_SECONDS = 12, RECORDING_BYTES_MAX = 64 << 20, PATH_BYTES_MAX = 512 };

static void set(char *to, size_t size, const char *text) { (void)snprintf(to, size, "%s", text); }

static int put_header(struct recording_buffer *out, const struct recording_record *record) {
    struct recording_header *header = malloc(sizeof *header);
    int r = header ? recording_get_header(record, header) : -ENOMEM;
    if (r == 0) {
        set(header->hostname, sizeof header->hostname, "HOST");
        if (header->catalog.vendor_path[0] != '\0')
            set(header->catalog.vendor_path, sizeof header->catalog.vendor_path, "/specs");
        r = recording_put_header(out, header);
    }
    free(header);
    return r;
}

static int put_bytes(struct recording_buffer *out, const uint8_t *bytes, size_t n) {
    uint8_t *grown = realloc(out->bytes, out->n + n);
    if (!grown)
        return -ENOMEM;
    memcpy(grown + out->n, bytes, n);
    out->bytes = grown;
    out->size = out->n += n;
    return 0;
}

// Boxes have headers, too, each in a record of its own.
static int put_boxes(struct recording_buffer *out, const struct recording_record *record, const uint8_t *bytes,
                     size_t n) {
    struct recording_record within;
    struct recording_buffer header = {0};
    char name[RECORDING_TEXT_MAX + 1];
    if (recording_get_boxes(record, name, &within) < 0 || within.kind != RECORDING_HEADER)
        return put_bytes(out, bytes, n);
    int r = put_header(&header, &within);
    if (r == 0)
        r = recording_put_boxes(out, name, &header);
    recording_buffer_deinit(&header);
    return r;
}

// A recording without its host's name. What follows its last full record is left out.
static int redact(const uint8_t *bytes, size_t n, struct recording_buffer *out) {
    struct recording_record record;
    size_t at = 0, before = 0;
    int r = 0;
    while (r == 0 && recording_next(bytes, n, &at, &record) > 0) {
        r = record.kind == RECORDING_HEADER  ? put_header(out, &record)
            : record.kind == RECORDING_BOXES ? put_boxes(out, &record, bytes + before, at - before)
                                             : put_bytes(out, bytes + before, at - before);
        before = at;
    }
    return r;
}

static void add_recording(struct bundle *bundle, const char *path, const char *name, const char *why) {
    struct recording_buffer buffer = {0};
    uint8_t *bytes;
    size_t n;
    int r = recording_file_read(path, RECORDING_BYTES_MAX, &bytes, &n);
    if (r == 0) {
        r = redact(bytes, n, &buffer);
        free(bytes);
    }
    if (r == 0)
        bundle_add_bytes(bundle, name, why, buffer.bytes, buffer.n);
    else
        bundle_miss(bundle, name, strerror(-r));
    recording_buffer_deinit(&buffer);
}

static void add_text(struct bundle *bundle, const char *path, const char *name, const char *why) {
    struct text text = {0};
    uint8_t *bytes;
    size_t n;
    if (recording_file_read(path, RECORDING_BYTES_MAX, &bytes, &n) < 0)
        return;
    text_append(&text, bytes, n);
    free(bytes);
    bundle_add_text(bundle, name, why, &text);
}

// All files of the folder: recordings, and texts.
static void add_folder(struct bundle *bundle, const char *folder, const char *under, const char *why) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_BYTES_MAX], name[100];
        const char *file = entries[i]->d_name;
        int length = snprintf(path, sizeof path, "%s/%s", folder, file);
        bool fits = length > 0 && (size_t)length < sizeof path && file[0] != '.' &&
                    snprintf(name, sizeof name, "%s/%s", under, file) < (int)sizeof name;
        if (fits && strncmp(file, "recording", strlen("recording")) == 0)
            add_recording(bundle, path, name, why);
        else if (fits)
            add_text(bundle, path, name, "what was said meanwhile");
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

// ---- a recording of our own ----

static void remove_folder(const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_BYTES_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof path && entries[i]->d_name[0] != '.')
            (void)unlink(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    (void)rmdir(folder);
}

// Runs the daemon without a port; its text file, if the configuration has one, goes to the folder. One of the signals
// `ending`, which are blocked, ends it early and stays pending.
static int record(const struct options *options, const char *folder, const sigset_t *ending) {
    char recording[PATH_BYTES_MAX], log[PATH_BYTES_MAX];
    struct spawn_words words;
    const struct timespec pause = {.tv_sec = RECORDING_SECONDS};
    int status;
    (void)snprintf(recording, sizeof recording, "%s/recording", folder);
    (void)snprintf(log, sizeof log, "%s/log.txt", folder);
    int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    spawn_command(&words, "run", options, false);
    spawn_option(&words, "--web.listen-address", "none");
    spawn_option(&words, "--path.run", folder);
    spawn_option(&words, "--textfile", folder);
    spawn_option(&words, "--record", recording);
    pid_t child = spawn_start(&words, fd, -1);
    (void)close(fd);
    if (child < 0)
        return child;
    int signal = sigtimedwait(ending, NULL, &pause);
    if (signal > 0)
        (void)raise(signal);
    (void)kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

void bundle_add_recording(struct bundle *bundle) {
    const char *temporary = getenv("TMPDIR");
    char folder[PATH_BYTES_MAX - 64];
    if (bundle->request->daemon > 0 && !bundle->request->setup->types[0].source->simulated) {
        bundle_miss(bundle, "recording/recording",
                    "topdownd is running and has the counters; record: in its configuration makes it record");
        return;
    }
    (void)snprintf(folder, sizeof folder, "%s/topdownd-XXXXXX", temporary && *temporary ? temporary : "/tmp");
    // Whoever ends us finds no folder left behind.
    sigset_t ending, before;
    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGINT);
    (void)sigaddset(&ending, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &ending, &before);
    int r = mkdtemp(folder) ? record(bundle->request->options, folder, &ending) : -errno;
    if (r == 0)
        add_folder(bundle, folder, "recording",
                   "some seconds of every reading: 'topdownd --pmu replay:FILE' shows them");
    else
        bundle_miss(bundle, "recording/recording", strerror(-r));
    remove_folder(folder);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

void bundle_add_verified(struct bundle *bundle) {
    if (bundle->request->verified)
        add_folder(bundle, bundle->request->verified, "verify", "every reading while known kernels ran");
}
