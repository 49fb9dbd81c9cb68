// SPDX-License-Identifier: Apache-2.0
#include "collectors/recording/recording_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/array.h"

// The buffer holds the file's bytes from `begins` on; those before `at` have been read. If a record does not end in the
// buffer, the reader reads more until the file ends.

enum { CHUNK = 1 << 20 };

struct recording_reader {
    int fd;
    uint8_t *bytes;
    size_t n, size, at;
    uint64_t begins;
    uint64_t last; // start of the last record
};

int recording_reader_new(const char *path, struct recording_reader **out) {
    struct stat status;
    struct recording_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return -ENOMEM;
    reader->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int r = reader->fd < 0 || fstat(reader->fd, &status) < 0 ? -errno : !S_ISREG(status.st_mode) ? -EINVAL : 0;
    if (r < 0) {
        recording_reader_free(reader);
        return r;
    }
    *out = reader;
    return 0;
}

struct recording_reader *recording_reader_free(struct recording_reader *reader) {
    if (reader) {
        if (reader->fd >= 0)
            (void)close(reader->fd);
        free(reader->bytes);
        free(reader);
    }
    return NULL;
}

static void forget_what_was_read(struct recording_reader *reader) {
    if (reader->at == 0)
        return;
    memmove(reader->bytes, reader->bytes + reader->at, reader->n - reader->at);
    reader->n -= reader->at;
    reader->begins += reader->at;
    reader->at = 0;
}

// Returns 1 if it read more, 0 at the end of the file, or a negative errno.
static int read_more(struct recording_reader *reader) {
    forget_what_was_read(reader);
    uint8_t *grown = array_reserve(reader->bytes, reader->n + CHUNK, &reader->size, 1);
    if (!grown)
        return -ENOMEM;
    reader->bytes = grown;
    ssize_t got;
    do
        got = pread(reader->fd, reader->bytes + reader->n, CHUNK, (off_t)(reader->begins + reader->n));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    reader->n += (size_t)got;
    return got > 0;
}

int recording_reader_check(struct recording_reader *reader) {
    int r = reader->n > 0 ? 1 : read_more(reader);
    return r > 0 ? recording_is(reader->bytes, reader->n) : r;
}

int recording_reader_next(struct recording_reader *reader, struct recording_record *out) {
    reader->last = reader->begins + reader->at;
    for (;;) {
        int r = recording_next(reader->bytes, reader->n, &reader->at, out);
        if (r > 0 || r == -EBADMSG)
            return r;
        int more = read_more(reader);
        if (more <= 0)
            return more < 0 ? more : r;
    }
}

uint64_t recording_reader_at(const struct recording_reader *reader) { return reader->last; }

void recording_reader_rewind(struct recording_reader *reader) { reader->n = reader->at = reader->begins = 0; }
