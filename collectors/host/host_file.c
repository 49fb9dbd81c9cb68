// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

ssize_t host_file_read(const char *path, char *text, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t length = 0;
    while (length + 1 < size) {
        ssize_t n = read(fd, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ssize_t r = -errno;
            close(fd);
            return r;
        }
        if (n == 0)
            break;
        length += (size_t)n;
    }
    close(fd);
    text[length] = '\0';
    return (ssize_t)length;
}

long long host_file_number(const char *path, long long otherwise) {
    char text[64], *end;
    if (host_file_read(path, text, sizeof text) <= 0)
        return otherwise;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return end == text || errno != 0 || (*end != '\n' && *end != '\0') ? otherwise : value;
}

// ---- files that stay open ----

struct file {
    char *path;
    int fd;                 // -1: not open
    bool by_name;           // of another file system: opened each time
    unsigned missing_reads; // for which it counts as missing
};

struct host_files {
    struct file files[HOST_FILES_MAX];
    size_t n;
};

struct host_files *host_files_new(void) {
    return calloc(1, sizeof(struct host_files));
}

struct host_files *host_files_free(struct host_files *kept) {
    for (size_t i = 0; kept && i < kept->n; i++) {
        if (kept->files[i].fd >= 0)
            close(kept->files[i].fd);
        free(kept->files[i].path);
    }
    free(kept);
    return NULL;
}

size_t host_files_n_open(const struct host_files *kept) {
    size_t n = 0;
    for (size_t i = 0; i < kept->n; i++)
        n += kept->files[i].fd >= 0;
    return n;
}

// The file of that path, which is added if it is new; NULL: there is no room or no memory.
static struct file *find(struct host_files *kept, const char *path) {
    size_t i = 0;
    while (kept && i < kept->n && strcmp(kept->files[i].path, path) != 0)
        i++;
    if (kept && i == kept->n && i < HOST_FILES_MAX) {
        char *copy = strdup(path);
        if (copy)
            kept->files[kept->n++] = (struct file){.path = copy, .fd = -1};
    }
    return kept && i < kept->n ? &kept->files[i] : NULL;
}

static bool is_kernels(const struct statfs *system) {
    return system->f_type == SYSFS_MAGIC || system->f_type == PROC_SUPER_MAGIC ||
           system->f_type == CGROUP2_SUPER_MAGIC || system->f_type == CGROUP_SUPER_MAGIC;
}

// Opens the file, if it is one that stays open. Returns 0 or a negative errno.
static int open_file(struct file *file) {
    struct statfs system;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    file->by_name = fstatfs(fd, &system) < 0 || !is_kernels(&system);
    if (file->by_name)
        close(fd);
    else
        file->fd = fd;
    return 0;
}

// Reads an open file. If that fails, it is closed: the kernel has removed it.
static ssize_t read_open(struct file *file, char *text, size_t size) {
    ssize_t n;
    do
        n = pread(file->fd, text, size - 1, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        n = -errno;
        close(file->fd);
        file->fd = -1;
        return n;
    }
    text[n] = '\0';
    return n;
}

static ssize_t read_file(struct file *file, const char *path, char *text, size_t size) {
    ssize_t n = file && file->fd >= 0 ? read_open(file, text, size) : -ENOENT;
    if (n >= 0)
        return n;
    int r = file && !file->by_name ? open_file(file) : 0;
    if (r < 0)
        return r;
    return file && file->fd >= 0 ? read_open(file, text, size) : host_file_read(path, text, size);
}

ssize_t host_file_read_kept(struct host_files *kept, const char *path, char *text, size_t size) {
    return read_file(find(kept, path), path, text, size);
}

// True if a folder above the file is on sysfs: no program can make the file.
static bool is_below_sysfs(const char *path) {
    char folder[PATH_MAX];
    struct statfs system;
    bool below = false;
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strrchr(folder, '/'); !below && slash && slash > folder; slash = strrchr(folder, '/')) {
        *slash = '\0';
        below = statfs(folder, &system) == 0 && system.f_type == SYSFS_MAGIC;
    }
    return below;
}

ssize_t host_file_read_mounted(struct host_files *kept, const char *path, char *text, size_t size) {
    struct file *file = find(kept, path);
    if (file && file->missing_reads > 0) {
        file->missing_reads--;
        return -ENOENT;
    }
    ssize_t n = read_file(file, path, text, size);
    if (file && n == -ENOENT && is_below_sysfs(path))
        file->missing_reads = HOST_FILE_MISSING_READS - 1;
    return n;
}

int host_file_stat(struct host_files *kept, const char *path, struct stat *status) {
    struct file *file = find(kept, path);
    if (file && file->fd < 0 && !file->by_name)
        (void)open_file(file);
    if (file && file->fd >= 0 && fstat(file->fd, status) == 0)
        return 0;
    return stat(path, status) < 0 ? -errno : 0;
}
