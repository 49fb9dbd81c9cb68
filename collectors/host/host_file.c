// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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
