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

static int make_plan(struct setup *setup, struct errors *errors) {
    struct plan_selection *selections;
    int n = selection_make(setup->profile, setup->source.catalog, &selections, setup->missing, sizeof setup->missing);
    if (n < 0)
        return n;
    const struct plan_request request = {.catalog = setup->source.catalog,
                                         .general_counters = setup->source.general_counters,
                                         .selections = selections,
                                         .n_selections = (size_t)n,
                                         .slot_ns = setup->profile->settings.slot_ns,
                                         .idle = setup->profile->settings.idle};
    int r = plan_new(&request, &setup->plan);
    free(selections);
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
    r = source_topology(&setup->source, settings->cpus_all ? NULL : &settings->cpus, errors, &setup->topology);
    if (r == 0)
        r = make_plan(setup, errors);
    if (r < 0)
        return r;
    setup->layout = snapshot_layout_new(setup->plan, setup->topology);
    return setup->layout ? 0 : -ENOMEM;
}

void setup_deinit(struct setup *setup) {
    setup->layout = snapshot_layout_free(setup->layout);
    setup->plan = plan_free(setup->plan);
    setup->topology = topology_free(setup->topology);
    source_deinit(&setup->source);
    specs_deinit(&setup->specs);
    setup->config = config_free(setup->config);
}
