// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept/kept_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/base/log.h"

enum { FILE_MODE = 0640 }; // as the folder's: root and the group

struct kept_file {
    char *folder, *path, *beside, *unread;
    pthread_t thread;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    struct recording_buffer waiting;
    bool waits, ends, ended; // bytes wait; the thread is to end; it has
    bool given_up;           // nobody waits for it any more: the thread frees it, and says nothing after the log's end
    int error;               // negative errno of the last time
    bool late;               // the file could not be read in time: it may be good, and gets another name
    struct reading {
        size_t max;     // 0: nothing is to be read
        uint8_t *bytes; // the answer
        size_t n;
        int r; // 1: there is none yet
    } reading;
};

// ---- reading ----

static int read_all(int fd, uint8_t *bytes, size_t n) {
    size_t at = 0;
    while (at < n) {
        ssize_t got = read(fd, bytes + at, n - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -ENODATA; // it has become shorter
        at += (size_t)got;
    }
    return 0;
}

static void read_file(const char *path, struct reading *reading) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); // a pipe makes nobody wait
    if (fd < 0) {
        reading->r = -errno;
        return;
    }
    int r = fstat(fd, &status) < 0 ? -errno : !S_ISREG(status.st_mode) ? -EINVAL : 0;
    if (r == 0 && (uint64_t)status.st_size > reading->max)
        r = -EFBIG;
    if (r == 0) {
        reading->n = (size_t)status.st_size;
        reading->bytes = malloc(reading->n + 1);
        r = reading->bytes ? read_all(fd, reading->bytes, reading->n) : -ENOMEM;
    }
    (void)close(fd);
    reading->r = r;
    if (r < 0) {
        free(reading->bytes);
        reading->bytes = NULL;
    }
}

int kept_file_read(struct kept_file *file, size_t max, uint8_t **bytes, size_t *n) {
    const struct timespec until = kept_file_patience();
    pthread_mutex_lock(&file->lock);
    file->reading = (struct reading){.max = max, .r = 1};
    pthread_cond_broadcast(&file->changed);
    int late = 0;
    while (file->reading.r > 0 && late == 0)
        late = pthread_cond_timedwait(&file->changed, &file->lock, &until);
    int r = file->reading.r > 0 ? -ETIMEDOUT : file->reading.r;
    file->late = r == -ETIMEDOUT;
    if (r == 0) {
        *bytes = file->reading.bytes;
        *n = file->reading.n;
        file->reading.bytes = NULL;
    }
    pthread_mutex_unlock(&file->lock);
    return r;
}

// ---- writing ----

static int write_all(int fd, const uint8_t *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

// Without this the new name may be lost with the power, and the old file is there again: that is no failure.
static void sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    (void)close(fd);
}

// What stands beside the file is left over. A link that somebody has put there is not followed.
static int write_file(const struct kept_file *file, bool late, const struct recording_buffer *bytes) {
    if (unlink(file->beside) < 0 && errno != ENOENT)
        return -errno;
    int fd = open(file->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return -errno;
    int r = write_all(fd, bytes->bytes, bytes->n);
    if (r == 0 && fsync(fd) < 0)
        r = -errno;
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r == 0 && late && rename(file->path, file->unread) < 0 && errno != ENOENT)
        r = -errno;
    if (r == 0 && rename(file->beside, file->path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(file->beside);
    else
        sync_folder(file->folder);
    return r;
}

static void free_names(struct kept_file *file) {
    free(file->unread);
    free(file->beside);
    free(file->path);
    free(file->folder);
    free(file);
}

static void destroy(struct kept_file *file) {
    free(file->reading.bytes);
    recording_buffer_deinit(&file->waiting);
    pthread_cond_destroy(&file->changed);
    pthread_mutex_destroy(&file->lock);
    free_names(file);
}

// A failure is said once, and again only if it is another one. With the lock held.
static void note(struct kept_file *file, int r) {
    if (file->given_up)
        return;
    if (r < 0 && r != file->error)
        log_warning("%s cannot be written: %s. A restart of topdownd will not know what was before it", file->path,
                    strerror(-r));
    else if (r == 0 && file->error < 0)
        log_info("%s can be written again", file->path);
    file->error = r;
}

// With the lock held, which it gives up meanwhile.
static void do_read(struct kept_file *file) {
    struct reading reading = file->reading;
    file->reading.max = 0;
    pthread_mutex_unlock(&file->lock);
    read_file(file->path, &reading);
    pthread_mutex_lock(&file->lock);
    reading.max = 0;
    file->reading = reading;
    pthread_cond_broadcast(&file->changed);
}

static void do_write(struct kept_file *file) {
    struct recording_buffer bytes = file->waiting;
    file->waiting = (struct recording_buffer){0};
    file->waits = false;
    bool late = file->late;
    pthread_mutex_unlock(&file->lock);
    int r = write_file(file, late, &bytes);
    recording_buffer_deinit(&bytes);
    pthread_mutex_lock(&file->lock);
    file->late = file->late && (r < 0 || !late);
    note(file, r);
}

static void *run(void *context) {
    struct kept_file *file = context;
    pthread_mutex_lock(&file->lock);
    while (!file->ends || file->waits) {
        if (file->reading.max > 0)
            do_read(file);
        else if (file->waits)
            do_write(file);
        else
            (void)pthread_cond_wait(&file->changed, &file->lock);
    }
    file->ended = true;
    bool alone = file->given_up;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->lock);
    if (alone)
        destroy(file);
    return NULL;
}

void kept_file_put(struct kept_file *file, struct recording_buffer *bytes) {
    pthread_mutex_lock(&file->lock);
    struct recording_buffer before = file->waiting;
    file->waiting = *bytes;
    file->waits = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->lock);
    *bytes = (struct recording_buffer){0};
    recording_buffer_deinit(&before);
}

// ---- life ----

static int start(struct kept_file *file) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int r = pthread_create(&file->thread, NULL, run, file);
    if (r != 0) {
        pthread_cond_destroy(&file->changed);
        pthread_mutex_destroy(&file->lock);
    }
    return -r;
}

int kept_file_new(const char *folder, const char *name, struct kept_file **out) {
    struct kept_file *file = calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    file->folder = strdup(folder);
    if (asprintf(&file->path, "%s/%s", folder, name) < 0)
        file->path = NULL;
    if (asprintf(&file->beside, "%s/.%s.new", folder, name) < 0)
        file->beside = NULL;
    if (asprintf(&file->unread, "%s/%s.unread", folder, name) < 0)
        file->unread = NULL;
    int r = file->folder && file->path && file->beside && file->unread ? start(file) : -ENOMEM;
    if (r < 0) {
        free_names(file);
        return r;
    }
    *out = file;
    return 0;
}

const char *kept_file_path(const struct kept_file *file) { return file->path; }

struct timespec kept_file_patience(void) {
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += KEPT_WAIT_SECONDS;
    return until;
}

void kept_file_end(struct kept_file *file) {
    pthread_mutex_lock(&file->lock);
    file->ends = true;
    pthread_cond_broadcast(&file->changed);
    pthread_mutex_unlock(&file->lock);
}

struct kept_file *kept_file_free(struct kept_file *file, const struct timespec *until) {
    if (!file)
        return NULL;
    kept_file_end(file);
    pthread_mutex_lock(&file->lock);
    int r = 0;
    while (!file->ended && r == 0)
        r = pthread_cond_timedwait(&file->changed, &file->lock, until);
    bool ended = file->ended;
    if (!ended)
        log_warning("%s is not written yet: the disk takes too long", file->path);
    file->given_up = !ended;
    pthread_t thread = file->thread;
    if (!ended)
        pthread_detach(thread);
    pthread_mutex_unlock(&file->lock); // then it may be the thread's
    if (ended) {
        pthread_join(thread, NULL);
        destroy(file);
    }
    return NULL;
}
