// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log.h"
#include "exporters/prometheus/prometheus.h"

#define FILE_NAME "topdownd.prom"
#define BESIDE_NAME ".topdownd.prom.new" // node_exporter reads *.prom

enum { FILE_MODE = 0644 }; // node_exporter runs as another user

// node_exporter has these families of its own, and answers with an error if a file has them, too.
static const char *const OWN[] = {"process_", "# HELP process_", "# TYPE process_"};

struct newest {
    struct view *view; // NULL: none yet
    struct snapshot *snapshot;
    uint64_t published_ns;
};

struct textfile {
    char *folder, *path, *beside;
    pthread_t thread;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    struct newest types[SHOWN_TYPES_MAX];
    size_t n_types; // 0: nothing has been published
    uint64_t interval_ns, written_ns;
    bool ends;
    struct status_textfile state;
    struct text page; // of the thread alone, to be used again
};

// ---- the page ----

static void newest_deinit(struct newest *newest) {
    view_unref(newest->view);
    snapshot_unref(newest->snapshot);
}

static bool is_own(const char *line) {
    bool own = false;
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        own = own || strncmp(line, OWN[i], strlen(OWN[i])) == 0;
    return own;
}

// Leaves out node_exporter's own families. The text ends with a line break.
static void remove_own(struct text *text) {
    size_t kept = 0;
    for (size_t at = 0, end; at < text->length; at = end) {
        end = (size_t)((char *)memchr(text->data + at, '\n', text->length - at) - text->data) + 1;
        if (is_own(text->data + at))
            continue;
        memmove(text->data + kept, text->data + at, end - at);
        kept += end - at;
    }
    text->length = kept;
}

// Renders the page into `out`. Where snapshots are overdue, because the thread that measures hangs, it has no gauges.
static int render(const struct newest *types, size_t n, uint64_t now_ns, struct text *out) {
    struct snapshot *shown_snapshots[SHOWN_TYPES_MAX] = {NULL};
    struct shown shown = {0};
    bool complete = true;
    for (size_t i = 0; i < n; i++) {
        bool stale = view_stale(types[i].view, (now_ns - types[i].published_ns) / 1000000);
        shown_snapshots[i] = stale ? snapshot_stale(types[i].snapshot) : snapshot_ref(types[i].snapshot);
        shown.types[i] = (struct shown_type){types[i].view, shown_snapshots[i]};
        complete = complete && shown_snapshots[i];
    }
    shown_count(&shown, n);
    shown.memory = complete ? shown_snapshots[0]->memory : NULL;
    struct series *series = complete ? series_new(&shown, false) : NULL;
    out->length = 0;
    int r = series ? prometheus_render(series, &shown, out) : -ENOMEM;
    series_free(series);
    for (size_t i = 0; i < n; i++)
        snapshot_unref(shown_snapshots[i]);
    if (r == 0)
        remove_own(out);
    else
        text_free(out);
    return r;
}

// ---- the file ----

static int write_all(int fd, const char *data, size_t size) {
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return -errno;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

// Whatever stands beside the file is left over. A link that somebody has put there is not followed.
static int open_beside(const char *beside) {
    if (unlink(beside) < 0 && errno != ENOENT)
        return -errno;
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    return fd < 0 ? -errno : fd;
}

static int write_file(const char *path, const char *beside, const struct text *page) {
    int fd = open_beside(beside);
    if (fd < 0)
        return fd;
    int r = fchmod(fd, FILE_MODE) < 0 ? -errno : write_all(fd, page->data, page->length);
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && rename(beside, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(beside);
    return r;
}

int textfile_check(const char *folder) {
    struct stat status;
    if (stat(folder, &status) < 0)
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return access(folder, W_OK | X_OK) < 0 ? -errno : 0;
}

// ---- the thread ----

// A failure is said once, and again only if it is another one.
static void note(struct textfile *textfile, int r) {
    struct status_textfile *state = &textfile->state;
    if (r < 0 && r != state->error)
        log_error("%s cannot be written: %s. topdownd measures on, and tries it again every %.3g s", textfile->path,
                  view_textfile_text(r), (double)textfile->interval_ns * 1e-9);
    else if (r == 0 && state->error < 0)
        log_info("%s can be written again", textfile->path);
    state->tried = true;
    state->error = r;
    state->failures += r < 0;
}

// Renders and writes what is newest, without the lock. Returns 0 or a negative errno.
static int write_newest(struct textfile *textfile, uint64_t now_ns) {
    struct newest types[SHOWN_TYPES_MAX];
    size_t n = textfile->n_types;
    for (size_t i = 0; i < n; i++)
        types[i] = (struct newest){view_ref(textfile->types[i].view), snapshot_ref(textfile->types[i].snapshot),
                                   textfile->types[i].published_ns};
    pthread_mutex_unlock(&textfile->lock);
    int r = render(types, n, now_ns, &textfile->page);
    if (r == 0)
        r = write_file(textfile->path, textfile->beside, &textfile->page);
    for (size_t i = 0; i < n; i++)
        newest_deinit(&types[i]);
    pthread_mutex_lock(&textfile->lock);
    return r;
}

// Waits until it is time to write, or something has changed. True if it is time.
static bool wait_for_time(struct textfile *textfile, uint64_t now_ns) {
    uint64_t due_ns = textfile->written_ns == 0 ? 0 : textfile->written_ns + textfile->interval_ns;
    const struct timespec due = {.tv_sec = (time_t)(due_ns / 1000000000), .tv_nsec = (long)(due_ns % 1000000000)};
    if (textfile->n_types == 0)
        (void)pthread_cond_wait(&textfile->changed, &textfile->lock);
    else if (due_ns > now_ns)
        (void)pthread_cond_timedwait(&textfile->changed, &textfile->lock, &due);
    else
        return true;
    return false;
}

static void *run(void *context) {
    struct textfile *textfile = context;
    pthread_mutex_lock(&textfile->lock);
    while (!textfile->ends) {
        uint64_t now_ns = clocks_now_ns();
        if (!wait_for_time(textfile, now_ns))
            continue;
        textfile->written_ns = now_ns;
        note(textfile, write_newest(textfile, now_ns));
    }
    pthread_mutex_unlock(&textfile->lock);
    return NULL;
}

// ---- life ----

static int start(struct textfile *textfile) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&textfile->lock, NULL);
    pthread_cond_init(&textfile->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int r = pthread_create(&textfile->thread, NULL, run, textfile);
    if (r != 0) {
        pthread_cond_destroy(&textfile->changed);
        pthread_mutex_destroy(&textfile->lock);
    }
    return -r;
}

static void free_names(struct textfile *textfile) {
    free(textfile->beside);
    free(textfile->path);
    free(textfile->folder);
    free(textfile);
}

static char *name_in(const char *folder, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

int textfile_new(const struct setup *setup, struct textfile **out) {
    const char *folder = setup->textfile.folder;
    if (!folder) {
        *out = NULL;
        return 0;
    }
    struct textfile *textfile = calloc(1, sizeof *textfile);
    if (!textfile)
        return -ENOMEM;
    textfile->folder = strdup(folder);
    textfile->path = name_in(folder, FILE_NAME);
    textfile->beside = name_in(folder, BESIDE_NAME);
    textfile->interval_ns = setup->textfile.interval_ns;
    int r = textfile->folder && textfile->path && textfile->beside ? start(textfile) : -ENOMEM;
    if (r < 0) {
        free_names(textfile);
        return r;
    }
    log_info("writing %s every %.3g s", textfile->path, (double)textfile->interval_ns * 1e-9);
    *out = textfile;
    return 0;
}

void textfile_change(struct textfile **textfile, const struct setup *setup) {
    struct textfile *next;
    if (*textfile && setup->textfile.folder && strcmp((*textfile)->folder, setup->textfile.folder) == 0) {
        pthread_mutex_lock(&(*textfile)->lock);
        (*textfile)->interval_ns = setup->textfile.interval_ns;
        pthread_cond_signal(&(*textfile)->changed);
        pthread_mutex_unlock(&(*textfile)->lock);
        return;
    }
    int r = textfile_new(setup, &next);
    if (r < 0) {
        log_error("the text file stays as it was: %s", strerror(-r));
        return;
    }
    textfile_free(*textfile);
    *textfile = next;
}

void textfile_publish(struct textfile *textfile, size_t type, size_t n_types, const struct http_published *published) {
    if (!textfile)
        return;
    struct newest next = {view_ref(published->view), snapshot_ref(published->snapshot), clocks_now_ns()};
    pthread_mutex_lock(&textfile->lock);
    struct newest before = textfile->types[type];
    textfile->types[type] = next;
    bool complete = true;
    for (size_t i = 0; i < n_types; i++)
        complete = complete && textfile->types[i].view;
    if (complete && textfile->n_types == 0)
        pthread_cond_signal(&textfile->changed);
    textfile->n_types = complete ? n_types : 0;
    pthread_mutex_unlock(&textfile->lock);
    newest_deinit(&before);
}

void textfile_begin_again(struct textfile *textfile) {
    if (!textfile)
        return;
    pthread_mutex_lock(&textfile->lock);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++) {
        newest_deinit(&textfile->types[i]);
        textfile->types[i] = (struct newest){0};
    }
    textfile->n_types = 0;
    pthread_mutex_unlock(&textfile->lock);
}

struct status_textfile textfile_state(struct textfile *textfile) {
    struct status_textfile state = {0};
    if (!textfile)
        return state;
    pthread_mutex_lock(&textfile->lock);
    state = textfile->state;
    pthread_mutex_unlock(&textfile->lock);
    return state;
}

struct textfile *textfile_free(struct textfile *textfile) {
    if (!textfile)
        return NULL;
    pthread_mutex_lock(&textfile->lock);
    textfile->ends = true;
    pthread_cond_signal(&textfile->changed);
    pthread_mutex_unlock(&textfile->lock);
    pthread_join(textfile->thread, NULL);
    (void)unlink(textfile->path);
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++)
        newest_deinit(&textfile->types[i]);
    pthread_cond_destroy(&textfile->changed);
    pthread_mutex_destroy(&textfile->lock);
    text_free(&textfile->page);
    free_names(textfile);
    return NULL;
}
