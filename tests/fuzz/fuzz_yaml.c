// SPDX-License-Identifier: Apache-2.0
//
// Any bytes are a configuration that is refused with an error, or accepted and
// consistent.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool file_exists(const char *path) { return strlen(path) % 2 == 0; }

static void check_profile(const struct config_profile *profile) {
    uint64_t slot_ns = profile->settings.slot_ns, interval_ns = profile->settings.interval_ns;
    if (slot_ns != 0 && (slot_ns < 10000000 || slot_ns > 60000000000))
        abort();
    if (interval_ns < 1000000000 || interval_ns > 60000000000)
        abort();
    if (!(profile->settings.idle >= 0 && profile->settings.idle <= 0.9))
        abort();
    for (size_t i = 0; i < profile->n_groups; i++)
        if (profile->groups[i].name[0] == '\0' || profile->groups[i].weight > 100 || !profile->groups[i].origin.file)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors = {0};
    struct config *config = NULL;
    int r = config_parse("fuzz.yaml", (const char *)data, size, &errors, &config);
    if (r == 0 ? errors.n > 0 || !config : r != -EINVAL || errors.n == 0 || config)
        abort();
    char line[ERROR_LINE_MAX];
    for (size_t i = 0; i < errors.n; i++)
        if (error_format(&errors.items[i], line, sizeof line) >= sizeof line)
            abort();
    if (!config)
        return 0;
    const char *const cpus[] = {"neoverse-v2", "c1-nano"};
    struct config_facts facts = {.hostname = "db-17.example", .cpus = cpus, .n_cpus = 2, .file_exists = file_exists};
    const struct config_profile *profile = config_select(config, &facts);
    if (profile < config->profiles || profile >= config->profiles + config->n_profiles || config->n_listen == 0)
        abort();
    for (size_t i = 0; i < config->n_profiles; i++)
        check_profile(&config->profiles[i]);
    config_free(config);
    return 0;
}
