// SPDX-License-Identifier: Apache-2.0
#include "collectors/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/recording.h"

enum { MODE = 0640, BEGINNING = 64 };

struct recording_file {
    char path[PATH_MAX], former[PATH_MAX];
    int fd;
    uint64_t bytes;
};

static int make(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    return fd < 0 ? -errno : fd;
}

// 1: there is a recording, or an empty file, that may become the former one; 0: there is nothing.
static int look_at(const char *path) {
    uint8_t beginning[BEGINNING];
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int r = fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ? -EEXIST : 1;
    ssize_t n = r > 0 ? read(fd, beginning, sizeof beginning) : 0;
    (void)close(fd);
    return r < 0 || (n > 0 && !recording_is(beginning, (size_t)n)) ? -EEXIST : 1;
}

// Only a recording is ever replaced.
static int move_away(const struct recording_file *file) {
    int r = look_at(file->former);
    if (r < 0)
        return r;
    return rename(file->path, file->former) < 0 ? -errno : 0;
}

int recording_file_new(const char *path, struct recording_file **out) {
    struct recording_file *file = calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    file->fd = -1;
    int length = snprintf(file->former, sizeof file->former, "%s.1", path);
    (void)snprintf(file->path, sizeof file->path, "%s", path);
    int r = length < 0 || (size_t)length >= sizeof file->former ? -ENAMETOOLONG : look_at(path);
    if (r > 0)
        r = move_away(file);
    if (r == 0)
        r = file->fd = make(path);
    if (r < 0) {
        recording_file_free(file);
        return r;
    }
    *out = file;
    return 0;
}

struct recording_file *recording_file_free(struct recording_file *file) {
    if (file && file->fd >= 0)
        (void)close(file->fd);
    free(file);
    return NULL;
}

uint64_t recording_file_bytes(const struct recording_file *file) { return file->bytes; }

int recording_file_write(struct recording_file *file, const uint8_t *bytes, size_t n) {
    size_t written = 0;
    while (written < n) {
        ssize_t r = write(file->fd, bytes + written, n - written);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0) {
            int error = r < 0 ? -errno : -EIO;
            if (ftruncate(file->fd, (off_t)file->bytes) == 0) // else a reader stops before what was cut
                (void)lseek(file->fd, (off_t)file->bytes, SEEK_SET);
            return error;
        }
        written += (size_t)r;
    }
    file->bytes += n;
    return 0;
}

int recording_file_rotate(struct recording_file *file) {
    int r = move_away(file);
    if (r < 0)
        return r;
    int fd = make(file->path);
    if (fd < 0) {
        (void)rename(file->former, file->path);
        return fd;
    }
    (void)close(file->fd);
    file->fd = fd;
    file->bytes = 0;
    return 0;
}

int recording_file_read(const char *path, size_t size_max, uint8_t **bytes, size_t *n) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &status) < 0 ? -errno : !S_ISREG(status.st_mode) ? -EINVAL : 0;
    if (r == 0 && (uint64_t)status.st_size > size_max)
        r = -EFBIG;
    size_t size = r == 0 ? (size_t)status.st_size : 0, length = 0;
    uint8_t *buffer = r == 0 ? malloc(size + 1) : NULL;
    if (r == 0 && !buffer)
        r = -ENOMEM;
    while (r == 0 && length < size) { // one that grows meanwhile is read up to here
        ssize_t got = read(fd, buffer + length, size - length);
        if (got == 0)
            break;
        if (got > 0)
            length += (size_t)got;
        else if (errno != EINTR)
            r = -errno;
    }
    (void)close(fd);
    if (r < 0) {
        free(buffer);
        return r;
    }
    buffer[length] = 0;
    *bytes = buffer;
    *n = length;
    return 0;
}
