// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_FILE_H
#define TOPDOWND_COLLECTORS_HOST_HOST_FILE_H

// The kernel's small files. Those that are read again and again can stay open: opening and closing one takes four times
// as long as reading it.
//
// Only files of sysfs, procfs and cgroups stay open, because only there an open file is always as new as its name: the
// kernel writes its text at each read, and a file that it removes can no longer be read. Then, or if there was no such
// file, the next read opens it by its name again. All other files, such as those of a container's own emulation or of
// tests, are opened by name each time.

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

// Reads the start of a file into `text` and terminates it. Returns its length or a negative errno.
ssize_t host_file_read(const char *path, char *text, size_t size);

// Reads a file that holds one whole number; returns `otherwise` if the file is unreadable or holds anything else.
long long host_file_number(const char *path, long long otherwise);

enum { HOST_FILES_MAX = 32 }; // further files are opened each time
enum { HOST_FILE_MISSING_READS = 10 };

struct host_files; // private

struct host_files *host_files_new(void);                     // NULL if out of memory
struct host_files *host_files_free(struct host_files *kept); // closes them; returns NULL, takes NULL
size_t host_files_n_open(const struct host_files *kept);

// Reads as host_file_read does. For files that the kernel writes in one piece: a single line, or one of proc(5)'s with
// a fixed number of fields. `kept` NULL: nothing stays open.
ssize_t host_file_read_kept(struct host_files *kept, const char *path, char *text, size_t size);

// The same for a file that a running kernel adds only when somebody mounts a file system: what is missing below sysfs
// is looked for in every HOST_FILE_MISSING_READS-th call. To find that there is no such file takes as long as to open
// one.
ssize_t host_file_read_mounted(struct host_files *kept, const char *path, char *text, size_t size);

// stat(2) of a file or folder. Returns 0 or a negative errno.
int host_file_stat(struct host_files *kept, const char *path, struct stat *status);

#endif
