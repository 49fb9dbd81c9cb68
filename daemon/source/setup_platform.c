// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/setup_platform.h"

#include <errno.h>
#include <string.h>

#include "daemon/base/clocks.h"

// Only the host's own sysfs describes the CPUs that the device files belong to.
static const char *devices_of(const struct host_roots *roots) {
    return strcmp(roots->sysfs, "/sys") == 0 ? "/dev" : NULL;
}

// The formulas are compiled for what is known of such a host.
static int find_told(struct setup *setup) {
    const struct source *source = setup->types[0].source;
    setup->platform = platform_new(source->replayed ? "not known of a recording" : "a scenario does not say");
    if (!setup->platform)
        return -ENOMEM;
    platform_set_environment(setup->platform, &source->catalog->environment);
    return 0;
}

int setup_platform_find(struct setup *setup) {
    const struct source *source = setup->types[0].source;
    if (source->simulated || source->replayed)
        return find_told(setup);
    setup->platform_look = host_platform_new(&source->roots, devices_of(&source->roots));
    int r = setup->platform_look ? host_platform_look(setup->platform_look, clocks_now_ns(), SIZE_MAX, &setup->platform)
                                 : -ENOMEM;
    return r < 0 ? r : 0;
}

void setup_platform_deinit(struct setup *setup) {
    setup->platform_look = host_platform_free(setup->platform_look);
    setup->platform = platform_unref(setup->platform);
}

bool setup_look_at_platform(struct setup *setup, uint64_t now_ns) {
    struct platform *found;
    if (!setup->platform_look || host_platform_look(setup->platform_look, now_ns, HOST_PLATFORM_CPUS, &found) <= 0)
        return false;
    bool changed = !platform_equal(found, setup->platform);
    if (changed) {
        struct platform *before = setup->platform;
        setup->platform = found;
        found = before;
    }
    platform_unref(found);
    return changed;
}
