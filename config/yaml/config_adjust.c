// SPDX-License-Identifier: Apache-2.0
#include "config/yaml/config_adjust.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct config_profile *profile_of(struct config *config, const struct config_profile *profile) {
    return &config->profiles[profile - config->profiles];
}

static size_t count_names(const char *names) {
    size_t n = 1;
    for (; *names != '\0'; names++)
        n += *names == ',';
    return n;
}

static void free_groups(struct config_group *groups, size_t n) {
    while (n > 0)
        free(groups[--n].name);
    free(groups);
}

// Replaces the profile's metric groups by those of the list.
static int take_groups(struct config_profile *profile, const char *names, struct errors *errors) {
    size_t most = count_names(names), n = 0;
    struct config_group *groups = calloc(most, sizeof *groups);
    if (!groups)
        return -ENOMEM;
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        char *name = strndup(at, length);
        if (!name || length == 0) {
            free(name);
            free_groups(groups, n);
            return length > 0 ? -ENOMEM
                              : errors_add(errors, "--groups", 0, 0,
                                           "takes the names of metric groups, as 'topdownd list groups' shows them: "
                                           "Topdown_L1,General");
        }
        groups[n++] = (struct config_group){.name = name, .origin.file = "--groups"};
        at += length;
        if (*at == '\0')
            break;
    }
    free_groups(profile->groups, profile->n_groups);
    profile->groups = groups;
    profile->n_groups = n;
    return 0;
}

static int take_cpus(struct config_settings *settings, const char *list, struct errors *errors) {
    struct cpuset cpus;
    if (cpuset_parse(list, &cpus) < 0 || cpuset_count(&cpus) == 0)
        return errors_add(errors, "--cpus", 0, 0,
                          "'%.100s' is not a list of CPUs: write numbers and ranges such as "
                          "0-3,8",
                          list);
    settings->cpus_all = false;
    settings->cpus = cpus;
    settings->cpus_origin = (struct config_origin){.file = "--cpus"};
    return 0;
}

int config_adjust(struct config *config, const struct config_profile *profile,
                  const struct config_adjustment *adjustment, struct errors *errors) {
    struct config_profile *changed = profile_of(config, profile);
    int r = adjustment->groups ? take_groups(changed, adjustment->groups, errors) : 0;
    if (r == 0 && adjustment->cpus)
        r = take_cpus(&changed->settings, adjustment->cpus, errors);
    if (r == 0 && adjustment->interval_ns > 0)
        changed->settings.interval_ns = adjustment->interval_ns;
    return r;
}

void config_adjust_slot(struct config *config, const struct config_profile *profile, uint64_t slot_ns) {
    profile_of(config, profile)->settings.slot_ns = slot_ns;
}
