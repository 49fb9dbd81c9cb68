// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/yaml_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/yaml/yaml_tree.h"

// Reads at most size bytes; returns their number or a negative errno.
static ssize_t read_bytes(int fd, char *data, size_t size) {
    size_t length = 0;
    while (length < size) {
        ssize_t n = read(fd, data + length, size - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    return (ssize_t)length;
}

// Opens a file that has an end: a FIFO would wait forever. Character devices are allowed for /dev/null.
static int open_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct stat status;
    int r = fstat(fd, &status) < 0 ? -errno : 0;
    if (r == 0 && S_ISDIR(status.st_mode))
        r = -EISDIR;
    else if (r == 0 && !S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
        r = -ENOTSUP;
    else if (r == 0 && status.st_size > YAML_TREE_BYTES_MAX)
        r = -EFBIG;
    if (r == 0)
        return fd;
    (void)close(fd);
    return r;
}

int yaml_file_read(const char *path, char **out, size_t *length) {
    char *data = malloc(YAML_TREE_BYTES_MAX + 1);
    if (!data)
        return -ENOMEM;
    int fd = open_file(path);
    ssize_t n = fd < 0 ? fd : read_bytes(fd, data, YAML_TREE_BYTES_MAX + 1);
    if (fd >= 0)
        (void)close(fd);
    if (n > YAML_TREE_BYTES_MAX)
        n = -EFBIG;
    if (n < 0) {
        free(data);
        return (int)n;
    }
    *out = data;
    *length = (size_t)n;
    return 0;
}

void yaml_file_report(struct errors *errors, const char *path, int error) {
    if (error == -EFBIG)
        (void)errors_add(errors, path, 0, 0, "cannot be read: it is larger than 1048576 bytes");
    else if (error == -ENOTSUP)
        (void)errors_add(errors, path, 0, 0, "cannot be read: it is not a regular file");
    else
        (void)errors_add_failure(errors, path, "cannot be read", error);
}
