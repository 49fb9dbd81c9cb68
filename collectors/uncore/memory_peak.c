// SPDX-License-Identifier: Apache-2.0
#include "collectors/uncore/memory_peak.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/host/host_file.h"
#include "collectors/uncore/smbios.h"

enum { PATH_BYTES = 512, TEXT_BYTES = 256, LABEL_MAX = 64, TABLE_MAX = 1 << 20, CONTROLLERS_MAX = 256 };

static const double CHANNEL_MAX = 1e13; // bytes per second: a hundred times more than any that there is

// ---- what a channel can move ----

static int read_table(const char *path, uint8_t *table, size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || errno == EPERM ? -EACCES : -ENOENT;
    *length = 0;
    for (ssize_t n = 1; n > 0 && *length < TABLE_MAX;) {
        n = read(fd, table + *length, TABLE_MAX - *length);
        *length += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return 0;
}

int memory_peak_read_tables(const struct host_roots *roots, double *out) {
    char path[PATH_BYTES];
    struct smbios_memory memory = {0};
    size_t length;
    uint8_t *table = malloc(TABLE_MAX);
    if (!table)
        return -ENOMEM;
    (void)snprintf(path, sizeof path, "%s/firmware/dmi/tables/DMI", roots->sysfs);
    int r = read_table(path, table, &length);
    if (r == 0)
        smbios_read_memory(table, length, &memory);
    free(table);
    double bytes = (double)memory.transfers * memory.width_bytes;
    if (r == 0 && (bytes <= 0 || bytes > CHANNEL_MAX))
        r = -ENOENT;
    if (r == 0)
        *out = bytes;
    return r;
}

int memory_peak_read_saved(const char *folder, double *out) {
    char path[PATH_BYTES], text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/" MEMORY_CHANNEL_FILE, folder);
    if (host_file_read(path, text, sizeof text) < 0)
        return -ENOENT;
    long long bytes = host_file_number(path, 0);
    if (bytes <= 0 || (double)bytes > CHANNEL_MAX)
        return -EINVAL;
    *out = (double)bytes;
    return 0;
}

static int write_file(const char *path, double bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int r = fchmod(fd, 0644) < 0 || dprintf(fd, "%.0f\n", bytes) < 0 ? -errno : 0; // whatever the umask
    if (close(fd) < 0 && r == 0)
        r = -errno;
    return r;
}

int memory_peak_save(const char *folder, double channel_bytes_per_second) {
    char path[PATH_BYTES], next[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/" MEMORY_CHANNEL_FILE, folder);
    int of_next = snprintf(next, sizeof next, "%s/." MEMORY_CHANNEL_FILE, folder);
    if ((size_t)length >= sizeof path || (size_t)of_next >= sizeof next)
        return -ENAMETOOLONG;
    (void)unlink(next); // of a run that was killed
    int r = write_file(next, channel_bytes_per_second);
    if (r == 0 && rename(next, path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(next);
    return r;
}

// ---- channels in use ----

// A memory controller of EDAC: its channels with modules, and the package that its modules' labels name.
struct controller {
    unsigned number;
    uint64_t channels; // one bit each
    int package;       // -1: they name none
};

static bool read_module_file(const char *folder, const char *file, char text[TEXT_BYTES]) {
    char path[PATH_BYTES + LABEL_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, file);
    return host_file_read(path, text, TEXT_BYTES) > 0;
}

// HBM is in the package, and persistent memory shares the channels of DRAM: neither adds to what DRAM can move.
static bool is_dram(const char *folder) {
    char text[TEXT_BYTES];
    if (read_module_file(folder, "dimm_label", text) && strstr(text, "_HBMC#")) // all that older kernels say of HBM
        return false;
    return !read_module_file(folder, "dimm_mem_type", text) ||
           (strncmp(text, "High-bandwidth", strlen("High-bandwidth")) != 0 &&
            strncmp(text, "Non-volatile", strlen("Non-volatile")) != 0);
}

// A module's channel is in its location, "channel 3 slot 0" or "csrow 0 channel 3". Intel's drivers name the socket in
// the label, "CPU_SrcID#1_MC#0_Chan#3_DIMM#0".
static void add_module(const char *folder, struct controller *controller) {
    char text[TEXT_BYTES];
    unsigned channel, package;
    if (!read_module_file(folder, "size", text) || strtoul(text, NULL, 10) == 0 || !is_dram(folder) ||
        !read_module_file(folder, "dimm_location", text))
        return;
    const char *place = strstr(text, "channel ");
    if (!place || sscanf(place, "channel %3u", &channel) != 1 || channel >= 64)
        return;
    controller->channels |= UINT64_C(1) << channel;
    if (!read_module_file(folder, "dimm_label", text))
        return;
    const char *source = strstr(text, "SrcID#");
    if (source && sscanf(source, "SrcID#%3u", &package) == 1)
        controller->package = (int)package;
}

static void read_controller(const char *folder, struct controller *controller) {
    char path[PATH_BYTES];
    DIR *modules = opendir(folder);
    for (const struct dirent *entry = modules ? readdir(modules) : NULL; entry; entry = readdir(modules)) {
        if ((strncmp(entry->d_name, "dimm", 4) != 0 && strncmp(entry->d_name, "rank", 4) != 0) ||
            strlen(folder) + strlen(entry->d_name) + 2 > sizeof path)
            continue;
        (void)snprintf(path, sizeof path, "%.*s/%.*s", PATH_BYTES - LABEL_MAX - 2, folder, LABEL_MAX, entry->d_name);
        add_module(path, controller);
    }
    if (modules)
        closedir(modules);
}

static int compare_controllers(const void *a, const void *b) {
    const struct controller *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Controllers with modules, by number. Returns how many.
static size_t read_controllers(const struct host_roots *roots, struct controller *out) {
    char path[PATH_BYTES];
    size_t n = 0;
    int length = snprintf(path, sizeof path, "%s/devices/system/edac/mc", roots->sysfs);
    DIR *folder = length > 0 && length + LABEL_MAX < PATH_BYTES ? opendir(path) : NULL;
    for (const struct dirent *entry = folder ? readdir(folder) : NULL; entry && n < CONTROLLERS_MAX;
         entry = readdir(folder)) {
        int end = 0;
        out[n] = (struct controller){.package = -1};
        if (sscanf(entry->d_name, "mc%5u%n", &out[n].number, &end) != 1 || entry->d_name[end] != '\0')
            continue;
        (void)snprintf(path + length, sizeof path - (size_t)length, "/mc%u", out[n].number);
        read_controller(path, &out[n]);
        n += out[n].channels != 0;
    }
    if (folder)
        closedir(folder);
    qsort(out, n, sizeof *out, compare_controllers);
    return n;
}

// The packages of the online CPUs, ascending. Returns how many.
static size_t read_packages(const struct host_roots *roots, unsigned out[MEMORY_PACKAGES_MAX]) {
    char path[PATH_BYTES], text[4096];
    struct cpuset online;
    bool has[MEMORY_PACKAGES_MAX] = {false};
    size_t n = 0;
    (void)snprintf(path, sizeof path, "%s/devices/system/cpu/online", roots->sysfs);
    if (host_file_read(path, text, sizeof text) <= 0 || cpuset_parse(text, &online) < 0)
        return 0;
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        if (!cpuset_has(&online, cpu))
            continue;
        (void)snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/topology/physical_package_id", roots->sysfs,
                       cpu);
        long long package = host_file_number(path, -1);
        if (package >= 0 && package < MEMORY_PACKAGES_MAX)
            has[package] = true;
    }
    for (unsigned p = 0; p < MEMORY_PACKAGES_MAX; p++)
        if (has[p])
            out[n++] = p;
    return n;
}

// Controllers whose modules name no package are numbered package by package, as AMD's driver does it: then their number
// is a multiple of the packages'. Otherwise nothing is known.
void memory_peak_count_channels(const struct host_roots *roots, unsigned out[MEMORY_PACKAGES_MAX]) {
    struct controller controllers[CONTROLLERS_MAX];
    unsigned packages[MEMORY_PACKAGES_MAX];
    size_t n = read_controllers(roots, controllers), n_packages = read_packages(roots, packages);
    memset(out, 0, MEMORY_PACKAGES_MAX * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        bool named = controllers[i].package >= 0 && controllers[i].package < MEMORY_PACKAGES_MAX;
        if (!named && (n_packages == 0 || n % n_packages != 0)) {
            memset(out, 0, MEMORY_PACKAGES_MAX * sizeof *out);
            return;
        }
        unsigned package = named ? (unsigned)controllers[i].package : packages[i / (n / n_packages)];
        out[package] += (unsigned)__builtin_popcountll(controllers[i].channels);
    }
}

int memory_peak_read_channel(const struct host_roots *roots, const char *folder, double *out) {
    int r = memory_peak_read_tables(roots, out);
    return r < 0 && folder && memory_peak_read_saved(folder, out) == 0 ? 0 : r;
}

void memory_peak_find(const struct host_roots *roots, const char *folder, double out[MEMORY_PACKAGES_MAX]) {
    unsigned channels[MEMORY_PACKAGES_MAX];
    double bytes = 0;
    (void)memory_peak_read_channel(roots, folder, &bytes);
    memory_peak_count_channels(roots, channels);
    for (size_t p = 0; p < MEMORY_PACKAGES_MAX; p++)
        out[p] = channels[p] * bytes;
}
