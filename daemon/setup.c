// SPDX-License-Identifier: Apache-2.0
#include "daemon/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/selection.h"

static bool file_exists(const char *path) { return access(path, F_OK) == 0; }

// An absent file at the default path is a host with the default configuration.
static int load_config(struct setup *setup, const struct options *options, struct errors *errors) {
    if (!options->config_given && !file_exists(options->config))
        return config_parse("built-in defaults", "", 0, errors, &setup->config);
    return config_load(options->config, errors, &setup->config);
}

static void choose_profile(struct setup *setup) {
    const struct config_facts facts = {
        .hostname = setup->hostname, .cpu = setup->source.catalog->product.spec, .file_exists = file_exists};
    setup->profile = config_select(setup->config, &facts);
}

static int make_selections(struct setup *setup) {
    int n = selection_make(setup->profile, setup->source.catalog, &setup->selections, setup->missing,
                           sizeof setup->missing);
    setup->n_selections = n < 0 ? 0 : (size_t)n;
    return n < 0 ? n : 0;
}

int setup_plan(const struct setup *setup, unsigned general_counters, unsigned reserved_counters, double slot_factor,
               struct errors *errors, struct plan **out) {
    const struct plan_request request = {.catalog = setup->source.catalog,
                                         .general_counters = general_counters,
                                         .reserved_counters = reserved_counters,
                                         .selections = setup->selections,
                                         .n_selections = setup->n_selections,
                                         .support = setup->source.support,
                                         .slot_ns = (uint64_t)((double)setup->profile->settings.slot_ns * slot_factor),
                                         .idle = setup->profile->settings.idle};
    int r = plan_new(&request, out);
    if (r == -E2BIG)
        return errors_add(errors, NULL, 0, 0,
                          "profile %s asks for more than %d events or %d event groups: name fewer metric groups",
                          setup->profile->name, PLAN_GROUP_EVENTS_MAX, PLAN_UNITS_MAX);
    return r;
}

int setup_init(struct setup *setup, const struct options *options, struct errors *errors) {
    *setup = (struct setup){.hostname = "unknown"};
    (void)gethostname(setup->hostname, sizeof setup->hostname - 1);
    int r = load_config(setup, options, errors);
    if (r == -ENOMEM)
        return r;
    int found = data_find(options->data, setup->data, sizeof setup->data, errors);
    if (found == 0)
        found = data_load_specs(setup->data, &setup->specs, errors);
    if (r < 0 || found < 0)
        return r < 0 ? r : found;
    r = selection_check(setup->config, &setup->specs, errors);
    if (r == 0)
        r = source_init(&setup->source, options, setup->data, &setup->specs, errors);
    if (r < 0)
        return r;
    choose_profile(setup);
    const struct config_settings *settings = &setup->profile->settings;
    source_choose_guests(&setup->source, settings->guests == CONFIG_GUESTS_SHARE);
    r = source_topology(&setup->source, settings->cpus_all ? NULL : &settings->cpus, errors, &setup->topology);
    return r == 0 ? make_selections(setup) : r;
}

void setup_deinit(struct setup *setup) {
    free(setup->selections);
    setup->selections = NULL;
    setup->topology = topology_free(setup->topology);
    source_deinit(&setup->source);
    specs_deinit(&setup->specs);
    setup->config = config_free(setup->config);
}
