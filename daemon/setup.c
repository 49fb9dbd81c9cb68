// SPDX-License-Identifier: Apache-2.0
#include "daemon/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/selection.h"

static bool file_exists(const char *path) { return access(path, F_OK) == 0; }

// The configuration says where specs come from, and the spec which metric groups the configuration may name.
struct checking {
    struct setup *setup;
    const struct options *options;
    bool done; // the source was looked for, or cannot be
};

static int init_source(struct checking *checking, const struct config_specs *vendor, struct errors *errors) {
    struct setup *setup = checking->setup;
    const struct source_request request = {
        .options = checking->options, .data = setup->data, .specs = &setup->specs, .vendor = vendor};
    checking->done = true;
    return source_init(&setup->source, &request, errors);
}

static int check_config(const struct config *config, const void *context, struct errors *errors) {
    struct checking *checking = *(struct checking *const *)context; // what it finds is not const
    struct setup *setup = checking->setup;
    int r = init_source(checking, &config->specs, errors);
    const struct selection_specs specs = {
        .catalog = setup->source.catalog, .vendors = setup->source.vendors, .others = &setup->specs};
    return r == 0 ? selection_check(config, &specs, errors) : r;
}

// An absent file at the default path is a host with the default configuration. Mistakes of both, the configuration and
// the host, are shown.
static int load_config(struct setup *setup, const struct options *options, bool specs, struct errors *errors) {
    struct checking checking = {.setup = setup, .options = options, .done = !specs}, *context = &checking;
    if (options->config_given || file_exists(options->config)) {
        int r = config_load_checked(options->config, specs ? check_config : NULL, &context, errors, &setup->config);
        if (r == -EINVAL && !checking.done)
            (void)init_source(&checking, NULL, errors);
        return r;
    }
    int r = config_parse("built-in defaults", "", 0, errors, &setup->config);
    return r == 0 && specs ? check_config(setup->config, &context, errors) : r;
}

static void choose_profile(struct setup *setup) {
    const struct config_facts facts = {
        .hostname = setup->hostname, .cpu = setup->source.catalog->product.spec, .file_exists = file_exists};
    setup->profile = config_select(setup->config, &facts);
}

// What the command line says goes before what the configuration says. A replay is a recording already.
static void choose_record(struct setup *setup, const struct options *options) {
    const struct config_record *record = &setup->config->record;
    bool configured = record->path && !setup->source.tape;
    setup->record_path = options->record ? options->record : configured ? record->path : NULL;
    setup->record_origin = options->record ? NULL : &record->origin;
    setup->record_bytes = options->record_bytes > 0 ? options->record_bytes
                          : record->path            ? record->size_bytes
                                                    : CONFIG_RECORD_BYTES_DEFAULT;
}

// Where `cpus` is at fault, the error is at its place.
static int find_topology(struct setup *setup, struct errors *errors) {
    const struct config_settings *settings = &setup->profile->settings;
    const struct config_origin *origin = &settings->cpus_origin;
    struct errors found = {0};
    int r = source_topology(&setup->source, settings->cpus_all ? NULL : &settings->cpus, &found, &setup->topology);
    for (size_t i = 0; i < found.n; i++) {
        const struct error *error = &found.items[i];
        if (error->file[0] != '\0' || settings->cpus_all)
            (void)errors_add(errors, error->file, error->line, error->column, "%s", error->text);
        else
            (void)errors_add(errors, origin->file, origin->line, origin->column, "%s", error->text);
    }
    return r;
}

static int make_selections(struct setup *setup) {
    int n = selection_make(setup->profile, setup->source.catalog, setup->source.vendors, &setup->selections,
                           setup->missing, sizeof setup->missing);
    setup->n_selections = n < 0 ? 0 : (size_t)n;
    return n < 0 ? n : 0;
}

// What a recording knows goes before what the configuration says; a log of perf knows none of it.
static void take_from_tape(struct setup *setup, const struct tape *tape) {
    if (tape->header.hostname[0] != '\0')
        (void)snprintf(setup->hostname, sizeof setup->hostname, "%.255s", tape->header.hostname);
    if (tape->header.profile[0] != '\0')
        setup->missing[0] = '\0'; // of another profile
}

const char *setup_profile_name(const struct setup *setup) {
    const struct tape *tape = setup->source.tape;
    return tape && tape->header.profile[0] != '\0' ? tape->header.profile : setup->profile->name;
}

int setup_plan(const struct setup *setup, const bool *raised, unsigned general_counters, unsigned reserved_counters,
               double slot_factor, struct errors *errors, struct plan **out) {
    const struct plan_request request = {.catalog = setup->source.catalog,
                                         .general_counters = general_counters,
                                         .reserved_counters = reserved_counters,
                                         .selections = setup->selections,
                                         .n_selections = setup->n_selections,
                                         .raised = raised,
                                         .support = setup->source.support,
                                         .nmi_watchdog = setup->source.nmi_watchdog,
                                         .slot_ns = (uint64_t)((double)setup->profile->settings.slot_ns * slot_factor),
                                         .idle = setup->profile->settings.idle,
                                         .adaptive = setup->profile->settings.mode == CONFIG_MODE_ADAPTIVE};
    int r = plan_new(&request, out);
    if (r == -E2BIG)
        return errors_add(errors, NULL, 0, 0,
                          "profile %s asks for more than %d events or %d event groups: name fewer metric groups",
                          setup->profile->name, PLAN_GROUP_EVENTS_MAX, PLAN_UNITS_MAX);
    return r;
}

int setup_init(struct setup *setup, const struct options *options, struct errors *errors) {
    *setup = (struct setup){.hostname = "unknown", .speed = options->speed};
    (void)gethostname(setup->hostname, sizeof setup->hostname - 1);
    int found = data_find(options->data, setup->data, sizeof setup->data, errors);
    if (found == 0)
        found = data_open_specs(setup->data, &setup->specs, errors);
    if (found < 0 && found != -EINVAL)
        return found;
    int r = load_config(setup, options, found == 0, errors);
    specs_forget(&setup->specs);
    if (r < 0 || found < 0)
        return r < 0 ? r : found;
    choose_record(setup, options);
    choose_profile(setup);
    source_choose_guests(&setup->source, setup->profile->settings.guests == CONFIG_GUESTS_SHARE);
    r = make_selections(setup);
    if (r == 0)
        r = source_load_tape(&setup->source, setup->selections, setup->n_selections, errors);
    if (r == 0)
        r = find_topology(setup, errors);
    if (r == 0 && setup->source.tape)
        take_from_tape(setup, setup->source.tape);
    return r;
}

void setup_deinit(struct setup *setup) {
    free(setup->selections);
    setup->selections = NULL;
    setup->topology = topology_free(setup->topology);
    source_deinit(&setup->source);
    specs_deinit(&setup->specs);
    setup->config = config_free(setup->config);
}
