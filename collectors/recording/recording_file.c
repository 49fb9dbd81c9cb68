// SPDX-License-Identifier: Apache-2.0
#include "collectors/recording/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "collectors/recording/recording_short.h"
#include "core/recording/recording.h"

enum { MODE = 0640, BEGINNING = 64, NUMBER_MAX = 22 }; // "." and a size_t and its end

struct recording_file {
    char path[PATH_MAX - NUMBER_MAX];
    int fd;
    uint64_t bytes, bytes_max;                        // of this file; limit of all together
    int64_t former_bytes[RECORDING_FILE_FORMERS_MAX]; // of FILE.1 and so on; -1: no such file
};

// A daemon locks the file that it writes, and the kernel unlocks it when that daemon ends. Where the file system has no
// locks, every file counts as free.
static bool lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

static bool is_removed(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_nlink == 0;
}

static int make(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (fd < 0)
        return -errno;
    if (lock(fd) && !is_removed(fd))
        return fd;
    (void)close(fd); // another daemon, which starts at the same time, was faster
    return -EBUSY;
}

static bool names(const char *path, int fd) {
    struct stat named, opened;
    return lstat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

// Takes the lock of FILE until *fd is closed; *fd is -1 where there is no file that can be opened. -EBUSY if another
// daemon writes it, or has just moved it.
static int claim(const char *path, int *fd) {
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (*fd < 0 || (lock(*fd) && names(path, *fd)))
        return 0;
    (void)close(*fd);
    *fd = -1;
    return -EBUSY;
}

static void name_former(const struct recording_file *file, size_t former, char *out) {
    (void)snprintf(out, PATH_MAX, "%s.%zu", file->path, former + 1);
}

// Gets the size of the recording or empty file, -1 if there is none. A negative errno for a file that must stay:
// -ETXTBSY for an older part that another daemon writes, as its own FILE.
enum look { ANY, FORMER };
static int look_at(const char *path, enum look look, int64_t *bytes) {
    uint8_t beginning[BEGINNING];
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *bytes = -1;
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int r = fstat(fd, &status) < 0 ? -errno : S_ISDIR(status.st_mode) ? -EISDIR : S_ISREG(status.st_mode) ? 0 : -EEXIST;
    ssize_t n = r == 0 ? read(fd, beginning, sizeof beginning) : 0;
    if (r == 0 && (n < 0 || (n > 0 && !recording_is(beginning, (size_t)n))))
        r = -EEXIST;
    if (r == 0 && look == FORMER && !lock(fd))
        r = -ETXTBSY;
    (void)close(fd);
    if (r < 0)
        return r;
    *bytes = status.st_size;
    return 0;
}

// Checks all of them each time: someone may have removed or replaced one, or records to it.
static int look_at_formers(struct recording_file *file, enum look look) {
    char name[PATH_MAX];
    int r = 0;
    for (size_t i = 0; i < RECORDING_FILE_FORMERS_MAX && r == 0; i++) {
        name_former(file, i, name);
        r = look_at(name, look, &file->former_bytes[i]);
    }
    return r;
}

// As claim; -ETXTBSY if another daemon writes the older part.
static int claim_former(const struct recording_file *file, size_t former, int *fd) {
    char name[PATH_MAX];
    name_former(file, former, name);
    return claim(name, fd) < 0 ? -ETXTBSY : 0;
}

static int unclaim(int fd, int result) {
    if (fd >= 0)
        (void)close(fd);
    return result;
}

static int remove_former(struct recording_file *file, size_t former) {
    char name[PATH_MAX];
    int fd, r = claim_former(file, former, &fd);
    name_former(file, former, name);
    if (r == 0 && unlink(name) < 0 && errno != ENOENT)
        r = -errno;
    if (r == 0)
        file->former_bytes[former] = -1;
    return unclaim(fd, r);
}

static int move(struct recording_file *file, size_t former, const char *from, int64_t bytes) {
    char to[PATH_MAX];
    name_former(file, former, to);
    if (rename(from, to) < 0)
        return -errno;
    file->former_bytes[former] = bytes;
    return 0;
}

// Renames FILE.1 to FILE.2 for 0, and so on.
static int move_up(struct recording_file *file, size_t former) {
    char from[PATH_MAX];
    int fd, r = claim_former(file, former, &fd);
    name_former(file, former, from);
    if (r == 0)
        r = move(file, former + 1, from, file->former_bytes[former]);
    if (r == 0)
        file->former_bytes[former] = -1;
    return unclaim(fd, r);
}

// Renames FILE to FILE.1. If all numbers are taken, the oldest file is removed.
static int move_away(struct recording_file *file, int64_t bytes) {
    const size_t last = RECORDING_FILE_FORMERS_MAX - 1;
    size_t gap = 0;
    int r = look_at_formers(file, FORMER);
    while (r == 0 && gap < last && file->former_bytes[gap] >= 0)
        gap++;
    if (r == 0 && gap == last && file->former_bytes[last] >= 0)
        r = remove_former(file, last);
    for (; r == 0 && gap > 0; gap--)
        r = move_up(file, gap - 1);
    return r < 0 ? r : move(file, 0, file->path, bytes);
}

// Removes the oldest short recordings until the others keep to their number and space.
static int make_room_of_short_ones(struct recording_file *file) {
    bool is_short[RECORDING_FILE_FORMERS_MAX];
    char name[PATH_MAX];
    int r = 0;
    for (size_t i = 0; i < RECORDING_FILE_FORMERS_MAX; i++) {
        name_former(file, i, name);
        is_short[i] = file->former_bytes[i] > 0 && recording_short(name);
    }
    for (size_t excess = 0; r == 0; r = remove_former(file, excess)) {
        excess = recording_short_excess(file->former_bytes, is_short, RECORDING_FILE_FORMERS_MAX, file->bytes_max);
        if (excess >= RECORDING_FILE_FORMERS_MAX)
            break;
    }
    return r;
}

// Moves FILE away. An empty file is worthless and gets no number.
static int make_way(struct recording_file *file) {
    int64_t bytes;
    int fd, r = claim(file->path, &fd);
    if (r == 0)
        r = look_at(file->path, ANY, &bytes);
    if (r == 0)
        r = look_at_formers(file, FORMER);
    if (r == 0)
        r = make_room_of_short_ones(file); // before the move: where all numbers are taken, it removes the oldest of all
    if (r == 0 && bytes > 0)
        r = move_away(file, bytes);
    if (r == 0 && bytes == 0 && unlink(file->path) < 0)
        r = -errno;
    return unclaim(fd, r);
}

// File systems in which the kernel shows what it knows: nobody makes a file there.
static bool is_kernels(const char *folder) {
    static const unsigned long magics[] = {PROC_SUPER_MAGIC,     SYSFS_MAGIC,   CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
                                           DEBUGFS_MAGIC,        TRACEFS_MAGIC, SECURITYFS_MAGIC,   BPF_FS_MAGIC,
                                           RDTGROUP_SUPER_MAGIC, SELINUX_MAGIC, DEVPTS_SUPER_MAGIC, EFIVARFS_MAGIC};
    struct statfs system;
    if (statfs(folder, &system) < 0)
        return false;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if ((unsigned long)system.f_type == magics[i])
            return true;
    return false;
}

// -EINVAL for a name that only a folder can have, -EOPNOTSUPP where the nearest folder that exists is the kernel's own.
static int check_place(const char *path) {
    char folder[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof folder)
        return length == 0 ? -ENOENT : -ENAMETOOLONG;
    if (path[length - 1] == '/')
        return -EINVAL;
    memcpy(folder, path, length + 1);
    do {
        char *slash = strrchr(folder, '/');
        if (slash)
            slash[slash == folder ? 1 : 0] = '\0';
        else
            strcpy(folder, ".");
    } while (access(folder, F_OK) < 0 && errno == ENOENT && strcmp(folder, ".") != 0 && strcmp(folder, "/") != 0);
    return is_kernels(folder) ? -EOPNOTSUPP : 0;
}

// Whether FILE may be there at all.
static int take_path(struct recording_file *file, const char *path) {
    int length = snprintf(file->path, sizeof file->path, "%s", path);
    return length < 0 || (size_t)length >= sizeof file->path ? -ENAMETOOLONG : check_place(path);
}

int recording_file_check(const char *path) {
    struct recording_file *file = calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    int64_t bytes;
    int r = take_path(file, path);
    if (r == 0)
        r = look_at(path, ANY, &bytes);
    if (r == 0)
        r = look_at_formers(file, ANY);
    char *slash = strrchr(file->path, '/');
    if (slash)
        slash[1] = '\0';
    if (r == 0 && access(slash ? file->path : ".", W_OK | X_OK) < 0)
        r = -errno;
    free(file);
    return r;
}

int recording_file_new(const char *path, uint64_t bytes_max, struct recording_file **out) {
    struct recording_file *file = calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    file->fd = -1;
    file->bytes_max = bytes_max;
    int r = take_path(file, path);
    if (r == 0)
        r = make_way(file);
    if (r == 0)
        r = file->fd = make(path);
    if (r < 0) {
        bool raced = file->fd == -EEXIST; // way was made, and there is a FILE again
        recording_file_free(file);
        return raced ? -EBUSY : r;
    }
    *out = file;
    return 0;
}

void recording_file_limit(struct recording_file *file, uint64_t bytes_max) { file->bytes_max = bytes_max; }

struct recording_file *recording_file_free(struct recording_file *file) {
    if (file && file->fd >= 0)
        (void)close(file->fd);
    free(file);
    return NULL;
}

uint64_t recording_file_bytes(const struct recording_file *file) { return file->bytes; }

// Removes the oldest files until n bytes are free. A part that another daemon writes by now is no longer one of these
// files: the next rotation reports it.
static int make_room(struct recording_file *file, size_t n) {
    uint64_t all = file->bytes + n;
    int r = 0;
    for (size_t i = 0; i < RECORDING_FILE_FORMERS_MAX; i++)
        all += file->former_bytes[i] > 0 ? (uint64_t)file->former_bytes[i] : 0;
    for (size_t i = RECORDING_FILE_FORMERS_MAX; i-- > 0 && all > file->bytes_max && r == 0;) {
        if (file->former_bytes[i] < 0)
            continue;
        all -= (uint64_t)file->former_bytes[i];
        r = remove_former(file, i);
        if (r == -ETXTBSY) {
            file->former_bytes[i] = -1;
            r = 0;
        }
    }
    return r;
}

int recording_file_write(struct recording_file *file, const uint8_t *bytes, size_t n) {
    size_t written = 0;
    int room = make_room(file, n);
    if (room < 0)
        return room;
    while (written < n) {
        ssize_t r = write(file->fd, bytes + written, n - written);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0) {
            int error = r < 0 ? -errno : -EIO;
            if (ftruncate(file->fd, (off_t)file->bytes) == 0) // else a reader stops before the partial record
                (void)lseek(file->fd, (off_t)file->bytes, SEEK_SET);
            return error;
        }
        written += (size_t)r;
    }
    file->bytes += n;
    return 0;
}

bool recording_file_removed(const struct recording_file *file) { return is_removed(file->fd); }

int recording_file_rotate(struct recording_file *file) {
    char former[PATH_MAX];
    bool ours = names(file->path, file->fd); // else someone has removed or moved it
    int r = ours ? move_away(file, (int64_t)file->bytes) : make_way(file);
    if (r < 0 && r != -ENOENT) // -ENOENT: someone has just moved FILE, nothing to move
        return r;
    int fd = make(file->path);
    if (fd < 0 && !ours)
        return fd;
    if (fd < 0) {
        name_former(file, 0, former);
        if (rename(former, file->path) == 0)
            file->former_bytes[0] = -1;
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
    while (r == 0 && length < size) { // a file that grows meanwhile is read up to here
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
