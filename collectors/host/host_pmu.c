// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The kernel's files hold one line each; anything else is refused.

enum { PATH_BYTES = 512, LINE_BYTES = 1024, ENTRIES_MAX = 1024 };

static bool is_entry(const char *name) { return name[0] != '\0' && name[0] != '.' && !strchr(name, '/'); }

// The path of PMU/folder or PMU/folder/file (NULL: the folder). False if no such path can exist.
static bool make_path(const struct host_roots *roots, const char *pmu, const char *folder, const char *file, char *out,
                      size_t size) {
    if (!is_entry(pmu) || (file && !is_entry(file)))
        return false;
    int length = snprintf(out, size, "%s/bus/event_source/devices/%s/%s%s%s", roots->sysfs, pmu, folder,
                          file ? "/" : "", file ? file : "");
    return length > 0 && (size_t)length < size;
}

// Reads a file of one line, without the line's end. -ENOENT if it is unreadable, -EINVAL if it is not one line of text.
static int read_line(const struct host_roots *roots, const char *pmu, const char *folder, const char *file, char *out,
                     size_t size) {
    char path[PATH_BYTES], text[LINE_BYTES];
    int fd =
        make_path(roots, pmu, folder, file, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return -ENOENT;
    ssize_t got = read(fd, text, sizeof text); // the kernel returns such a file in one read
    close(fd);
    if (got < 0)
        return -ENOENT;
    size_t length = (size_t)got;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    for (size_t i = 0; i < length; i++)
        if (!isprint((unsigned char)text[i]))
            return -EINVAL;
    if (length == 0 || got == sizeof text || length >= size)
        return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

int host_pmu_alias(const struct host_roots *roots, const char *pmu, const char *event, char *out, size_t size) {
    return read_line(roots, pmu, "events", event, out, size);
}

bool host_pmu_has_cpumask(const struct host_roots *roots, const char *pmu) {
    char path[PATH_BYTES];
    return make_path(roots, pmu, "cpumask", NULL, path, sizeof path) && access(path, F_OK) == 0;
}

int host_pmu_cap(const struct host_roots *roots, const char *pmu, const char *cap, uint64_t *out) {
    char text[32], *end;
    int r = read_line(roots, pmu, "caps", cap, text, sizeof text);
    if (r < 0)
        return r;
    bool hex = text[0] == '0' && text[1] == 'x' && isxdigit((unsigned char)text[2]);
    errno = 0;
    unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0)
        return -EINVAL;
    *out = value;
    return 0;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

// Lists the names in a folder that are valid for a term, in byte order. Returns their number, -ENOENT or -ENOMEM.
static int list_names(const char *path, char (**out)[EVENT_FORMAT_NAME_MAX]) {
    DIR *folder = opendir(path);
    if (!folder)
        return -ENOENT;
    char(*names)[EVENT_FORMAT_NAME_MAX] = calloc(ENTRIES_MAX, sizeof *names);
    if (!names) {
        closedir(folder);
        return -ENOMEM;
    }
    size_t n = 0;
    for (const struct dirent *entry = readdir(folder); entry && n < ENTRIES_MAX; entry = readdir(folder))
        if (is_entry(entry->d_name) && strlen(entry->d_name) < EVENT_FORMAT_NAME_MAX)
            memcpy(names[n++], entry->d_name, strlen(entry->d_name) + 1);
    closedir(folder);
    qsort(names, n, sizeof *names, compare_names);
    *out = names;
    return (int)n;
}

int host_pmu_format(const struct host_roots *roots, const char *pmu, struct event_format **out) {
    char path[PATH_BYTES], text[LINE_BYTES];
    char(*names)[EVENT_FORMAT_NAME_MAX] = NULL;
    struct event_format *format;
    struct fault ignored;
    int n = make_path(roots, pmu, "format", NULL, path, sizeof path) ? list_names(path, &names) : -ENOENT;
    if (n < 0)
        return n;
    int r = event_format_new(&format);
    for (int i = 0; i < n && r == 0; i++)
        if (read_line(roots, pmu, "format", names[i], text, sizeof text) == 0)
            (void)event_format_add(format, names[i], text, &ignored);
    free(names);
    if (r == 0)
        *out = format;
    return r;
}
