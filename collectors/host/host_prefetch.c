// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_prefetch.h"

// Intel's manual, volume 4: MSR_MISC_FEATURE_CONTROL. Each bit that is set switches one prefetcher off. Reading it
// changes nothing, and interrupts one CPU.
enum { MISC_FEATURE_CONTROL = 0x1a4, PATH_BYTES = 512 };

static const char *const PREFETCHERS[] = {"L2", "L2 adjacent line", "L1 data", "L1 data by instruction"};

static void describe(uint64_t off, struct platform *out) {
    char text[PLATFORM_VALUE_MAX] = "on";
    size_t n = 0;
    for (unsigned bit = 0; bit < sizeof PREFETCHERS / sizeof *PREFETCHERS; bit++)
        if (off >> bit & 1)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "off: ", PREFETCHERS[bit]);
    if (off >> (sizeof PREFETCHERS / sizeof *PREFETCHERS) != 0) // bits that not all of these CPUs have
        (void)snprintf(text + n, sizeof text - n, "%sregister 0x1a4 is 0x%" PRIx64, n > 0 ? "; " : "", off);
    platform_set_text(out, PLATFORM_PREFETCHERS, text);
}

// Returns a negative errno, -ENODATA for less than a register.
static int read_register(const char *path, uint64_t *value) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = pread(fd, value, sizeof *value, MISC_FEATURE_CONTROL);
    int r = n < 0 ? -errno : n == sizeof *value ? 0 : -ENODATA;
    (void)close(fd);
    return r;
}

void host_prefetch_read(const struct host_roots *roots, const char *devices, int cpu, struct platform *out) {
    struct host_cpu described;
    char path[PATH_BYTES];
    uint64_t value;
    host_cpu_describe(roots, &described);
    if (strcmp(described.vendor, "GenuineIntel") != 0) {
        platform_set_unknown(out, PLATFORM_PREFETCHERS, "not readable: only Intel documents a register for its CPUs");
        return;
    }
    if (!devices || cpu < 0) {
        platform_set_unknown(out, PLATFORM_PREFETCHERS, "not readable: there are no device files beside this sysfs");
        return;
    }
    (void)snprintf(path, sizeof path, "%s/cpu/%d/msr", devices, cpu);
    int r = read_register(path, &value);
    if (r == 0)
        describe(value, out);
    else
        platform_set_unknown(out, PLATFORM_PREFETCHERS,
                             "not readable: %s: %s (it needs root and the kernel's module msr)", path, strerror(-r));
}
