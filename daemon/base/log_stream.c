// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/log_stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/clocks.h"
#include "daemon/base/log_limit.h"

struct log_stream {
    FILE *before, *file;
    struct log_limit limit;  // under the lock of `file`
    _Atomic uint64_t due_ns; // when something is to be said of what was held back
};

// What begins every line: a priority for the journal, or the program and a word for people.
static size_t prefix_length(const char *line) {
    static const char *const words[] = {"topdownd: warning: ", "topdownd: error: ", "topdownd: "};
    if (line[0] == '<' && line[1] != '\0' && line[2] == '>')
        return strlen("<6>");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return strlen(words[i]);
    return 0;
}

static ssize_t write_lines(void *cookie, const char *bytes, size_t size) {
    struct log_stream *stream = cookie;
    uint64_t now_ns = clocks_now_ns();
    for (size_t at = 0; at < size;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (bytes + at)) + 1 : size - at;
        if (log_limit_pass(&stream->limit, now_ns, bytes + at, length))
            (void)fwrite(bytes + at, 1, length, stream->before);
        at += length;
    }
    (void)fflush(stream->before);
    atomic_store(&stream->due_ns, log_limit_due_ns(&stream->limit));
    return (ssize_t)size;
}

struct log_stream *log_stream_open(void) {
    struct log_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->before = stderr;
    atomic_init(&stream->due_ns, UINT64_MAX);
    stream->file = fopencookie(stream, "w", (cookie_io_functions_t){.write = write_lines});
    if (!stream->file || setvbuf(stream->file, NULL, _IOLBF, BUFSIZ) != 0) {
        if (stream->file)
            (void)fclose(stream->file);
        free(stream);
        return NULL;
    }
    stderr = stream->file;
    return stream;
}

static void say_held(struct log_stream *stream, uint64_t now_ns, bool all) {
    char line[LOG_LIMIT_TEXT_MAX];
    unsigned n;
    flockfile(stream->file);
    while ((n = log_limit_take(&stream->limit, now_ns, all, line)) > 0) {
        size_t prefix = prefix_length(line);
        line[strcspn(line, "\n")] = '\0';
        (void)fprintf(stream->before, "%.*s%u more such message%s in the last minute: %s\n", (int)prefix, line, n,
                      n == 1 ? "" : "s", line + prefix);
    }
    (void)fflush(stream->before);
    atomic_store(&stream->due_ns, log_limit_due_ns(&stream->limit));
    funlockfile(stream->file);
}

void log_stream_step(struct log_stream *stream, uint64_t now_ns) {
    if (stream && now_ns >= atomic_load(&stream->due_ns))
        say_held(stream, now_ns, false);
}

void log_stream_renew(struct log_stream *stream) {
    if (!stream)
        return;
    say_held(stream, clocks_now_ns(), true);
    flockfile(stream->file);
    stream->limit = (struct log_limit){0};
    funlockfile(stream->file);
}

struct log_stream *log_stream_close(struct log_stream *stream) {
    if (!stream)
        return NULL;
    (void)fflush(stream->file);
    stderr = stream->before;
    say_held(stream, clocks_now_ns(), true);
    (void)fclose(stream->file);
    free(stream);
    return NULL;
}
