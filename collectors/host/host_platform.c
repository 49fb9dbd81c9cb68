// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_platform_cpus.h"
#include "collectors/host/host_platform_files.h"
#include "collectors/host/host_prefetch.h"
#include "collectors/host/host_virtual.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);

struct host_platform {
    struct host_roots roots;
    const char *devices;
    struct host_platform_cpus *pass; // NULL: none is under way
    uint64_t next_ns;                // when the next one begins
    struct platform *first;          // what the first one found; NULL: it is not over
};

struct host_platform *host_platform_new(const struct host_roots *roots, const char *devices) {
    struct host_platform *collector = calloc(1, sizeof *collector);
    if (collector)
        *collector = (struct host_platform){.roots = *roots, .devices = devices};
    return collector;
}

struct host_platform *host_platform_free(struct host_platform *collector) {
    if (collector) {
        host_platform_cpus_free(collector->pass);
        platform_unref(collector->first);
    }
    free(collector);
    return NULL;
}

// No host becomes another machine while a program runs.
static void describe_machine(struct host_platform *collector, struct platform *platform) {
    if (collector->first) {
        platform_copy(platform, PLATFORM_VIRTUAL_MACHINE, collector->first);
        return;
    }
    host_virtual_describe(&collector->roots, platform);
    collector->first = platform_ref(platform);
}

// Ends a pass.
static int finish(struct host_platform *collector, struct platform **out) {
    struct platform *platform = platform_new("the kernel does not tell");
    if (platform) {
        host_platform_cpus_finish(collector->pass, platform);
        host_platform_read_files(&collector->roots, platform);
        host_prefetch_read(&collector->roots, collector->devices, host_platform_cpus_first(collector->pass), platform);
        describe_machine(collector, platform);
    }
    collector->pass = host_platform_cpus_free(collector->pass);
    if (!platform)
        return -ENOMEM;
    *out = platform;
    return 1;
}

int host_platform_look(struct host_platform *collector, uint64_t now_ns, size_t cpus_max, struct platform **out) {
    if (!collector->pass) {
        if (now_ns < collector->next_ns)
            return 0;
        collector->pass = host_platform_cpus_new(&collector->roots);
        if (!collector->pass)
            return -ENOMEM;
    }
    if (!host_platform_cpus_look(collector->pass, cpus_max))
        return 0;
    collector->next_ns = now_ns + HOST_PLATFORM_SECONDS * SECOND_NS;
    return finish(collector, out);
}
