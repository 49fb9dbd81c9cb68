// SPDX-License-Identifier: Apache-2.0
#include "collectors/recording/recording_short.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/recording/recording.h"

enum { HEADER_MAX = 256 << 10 }; // what a host with many events of its own takes is a tenth of this

static bool read_header(int fd, struct recording_header *header) {
    uint8_t *bytes = malloc(HEADER_MAX);
    struct recording_record record;
    size_t at = 0;
    ssize_t n = bytes ? read(fd, bytes, HEADER_MAX) : -1;
    bool found = n > 0 && recording_next(bytes, (size_t)n, &at, &record) > 0 && record.kind == RECORDING_HEADER &&
                 recording_get_header(&record, header) == 0;
    free(bytes);
    return found;
}

bool recording_short(const char *path) {
    struct recording_header *header = malloc(sizeof *header);
    struct stat status;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_short = header && fd >= 0 && fstat(fd, &status) == 0 && read_header(fd, header) && header->part == 0;
    if (is_short) {
        double lasted = (double)status.st_mtim.tv_sec - header->timestamp_seconds;
        is_short = lasted > -1 && lasted < RECORDING_SHORT_SECONDS; // whole seconds of the one, parts of the other
    }
    if (fd >= 0)
        (void)close(fd);
    free(header);
    return is_short;
}

size_t recording_short_excess(const int64_t *bytes, const bool *is_short, size_t n, uint64_t bytes_max) {
    uint64_t all = 0;
    size_t count = 0, oldest = n;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] < 0 || !is_short[i])
            continue;
        oldest = i;
        all += (uint64_t)bytes[i];
        count++;
    }
    return count > RECORDING_SHORT_MAX || (count > 1 && all > bytes_max / RECORDING_SHORT_SHARE) ? oldest : n;
}
