// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/yaml/config_adjust.h"
#include "config/yaml/config_listen.h"
#include "core/diagnosis/around.h"
#include "core/plan/plan_fetch.h"
#include "core/plan/schedule.h"
#include "daemon/source/selection.h"
#include "daemon/source/setup_platform.h"
#include "daemon/source/source_find.h"

#define TOLD_PAUSE_NS UINT64_C(10000000000)
_Static_assert(TOLD_PAUSE_NS < AROUND_TOLD_NS, "totals that stand still for longer are of CPUs that do nothing");

bool setup_file_exists(const char *path) { return access(path, F_OK) == 0; }

// The configuration tells where specs come from, and the spec tells which metric groups the configuration may name.
struct checking {
    struct setup *setup;
    const struct options *options;
    bool done; // the source was searched for, or cannot be
};

static int init_source(struct checking *checking, const struct config_specs *vendor, struct errors *errors) {
    struct setup *setup = checking->setup;
    const struct source_request request = {
        .options = checking->options, .data = setup->data, .specs = &setup->specs, .vendor = vendor};
    struct source *sources[SOURCE_TYPES_MAX];
    checking->done = true;
    int r = source_find(&request, errors, sources, &setup->n_types);
    for (size_t i = 0; i < setup->n_types; i++)
        setup->types[i].source = sources[i];
    return r;
}

static int check_groups(struct setup *setup, const struct config *config, struct errors *errors) {
    struct selection_specs specs = {.others = &setup->specs};
    for (size_t i = 0; i < setup->n_types; i++) {
        specs.catalogs[specs.n++] = setup->types[i].source->catalog;
        specs.vendors = specs.vendors || setup->types[i].source->vendors;
    }
    return selection_check(config, &specs, errors);
}

static int check_config(const struct config *config, const void *context, struct errors *errors) {
    struct checking *checking = *(struct checking *const *)context; // the check stores its results there
    int r = init_source(checking, &config->specs, errors);
    return r == 0 ? check_groups(checking->setup, config, errors) : r;
}

// A missing file at the default path means the default configuration. Mistakes of both the configuration and the host
// are shown.
static int load_config(struct setup *setup, const struct options *options, bool specs, struct errors *errors) {
    struct checking checking = {.setup = setup, .options = options, .done = !specs}, *context = &checking;
    if (options->config_given || setup_file_exists(options->config)) {
        int r = config_load_checked(options->config, specs ? check_config : NULL, &context, errors, &setup->config);
        if (r == -EINVAL && !checking.done)
            (void)init_source(&checking, NULL, errors);
        return r;
    }
    int r = config_parse("built-in defaults", "", 0, errors, &setup->config);
    return r == 0 && specs ? check_config(setup->config, &context, errors) : r;
}

static bool has_ipv6(void) {
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

// The command line takes precedence over the configuration.
static int choose_addresses(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct config_listen_words words = {options->web.listen, options->web.n_listen, has_ipv6()};
    return words.n > 0 ? config_listen_replace(setup->config, &words, errors) : 0;
}

static void choose_profile(struct setup *setup) {
    const char *cpus[SOURCE_TYPES_MAX];
    for (size_t i = 0; i < setup->n_types; i++)
        cpus[i] = setup->types[i].source->catalog->product.spec;
    const struct config_facts facts = {
        .hostname = setup->hostname, .cpus = cpus, .n_cpus = setup->n_types, .file_exists = setup_file_exists};
    setup->profile = config_select(setup->config, &facts);
}

// Names of metric groups that the command line gives are checked as those of the configuration.
static int adjust_profile(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct config_adjustment adjustment = {.groups = options->measure.groups,
                                                 .cpus = options->measure.cpus,
                                                 .interval_ns = (uint64_t)(options->measure.snapshot_seconds * 1e9)};
    int r = config_adjust(setup->config, setup->profile, &adjustment, errors);
    if (r == 0 && adjustment.groups)
        r = check_groups(setup, setup->config, errors);
    specs_forget(&setup->specs);
    return r;
}

// The command line takes precedence over the configuration. A replay is already a recording.
static int choose_record(struct setup *setup, const struct options *options, struct errors *errors) {
    const struct config_record *record = &setup->config->record;
    bool configured = record->path && !setup->types[0].source->replayed && !options->aside.on;
    setup->record_path = options->record ? options->record : configured ? record->path : NULL;
    setup->record_origin = options->record ? NULL : &record->origin;
    setup->record_bytes = options->record_bytes > 0 ? options->record_bytes : record->size_bytes;
    if (options->record_bytes > 0 && !setup->record_path)
        return errors_add(errors, NULL, 0, 0,
                          "--record.size without a recording: name its file with --record, or with record in the "
                          "configuration");
    return 0;
}

// A replay does not take the place of what the host itself writes.
static void choose_textfile(struct setup *setup, const struct options *options) {
    const struct config_textfile *textfile = &setup->config->textfile;
    bool configured = textfile->path && !setup->types[0].source->replayed && !options->aside.on;
    setup->textfile.folder = options->textfile ? options->textfile : configured ? textfile->path : NULL;
    setup->textfile.interval_ns = textfile->interval_ns;
}

// If `cpus` is at fault, the error points there.
static int find_topology(struct setup *setup, struct core_type *type, struct errors *errors) {
    const struct config_settings *settings = &setup->profile->settings;
    const struct config_origin *origin = &settings->cpus_origin;
    struct errors found = {0};
    int r = source_topology(type->source, settings->cpus_all ? NULL : &settings->cpus, &found, &type->topology);
    for (size_t i = 0; i < found.n; i++) {
        const struct error *error = &found.items[i];
        if (error->file[0] != '\0' || settings->cpus_all)
            (void)errors_add(errors, error->file, error->line, error->column, "%s", error->text);
        else
            (void)errors_add(errors, origin->file, origin->line, origin->column, "%s", error->text);
    }
    errors->passing = errors->passing || found.passing;
    return r;
}

static void type_deinit(struct core_type *type) {
    free(type->missing);
    free(type->selections);
    topology_free(type->topology);
    source_free(type->source);
}

// Core types without a CPU to measure are left out.
static int find_topologies(struct setup *setup, struct errors *errors) {
    const struct config_settings *settings = &setup->profile->settings;
    struct source *sources[SOURCE_TYPES_MAX];
    size_t n = setup->n_types, kept = 0;
    int r = 0;
    for (size_t i = 0; i < n; i++) {
        int found = r == 0 ? find_topology(setup, &setup->types[i], errors) : 0;
        struct core_type type = setup->types[i];
        r = found == -ENOENT || r < 0 ? r : found;
        if (found == -ENOENT)
            type_deinit(&type);
        else
            setup->types[kept++] = type;
    }
    setup->n_types = kept;
    if (kept == 0)
        return errors_add(errors, settings->cpus_origin.file, settings->cpus_origin.line, settings->cpus_origin.column,
                          "none of the CPUs that `cpus` names is online");
    for (size_t i = 0; i < kept; i++)
        sources[i] = setup->types[i].source;
    if (r == 0)
        source_note_other_cores(sources, kept, settings->cpus_all ? NULL : &settings->cpus);
    return r;
}

static int make_selections(struct setup *setup) {
    for (size_t i = 0; i < setup->n_types; i++) {
        struct core_type *type = &setup->types[i];
        char missing[SETUP_MISSING_MAX];
        int n = selection_make(setup->profile, type->source->catalog, type->source->vendors, &type->selections, missing,
                               sizeof missing);
        if (n < 0)
            return n;
        type->n_selections = (size_t)n;
        type->missing = missing[0] != '\0' ? strdup(missing) : NULL;
        if (missing[0] != '\0' && !type->missing)
            return -ENOMEM;
    }
    return 0;
}

uint64_t setup_interval_ns(const struct setup *setup) {
    return setup->whole_rounds ? 0 : setup->profile->settings.interval_ns;
}

uint64_t setup_told_pause_ns(const struct setup *setup) { return setup->many_rounds ? 0 : TOLD_PAUSE_NS; }

const char *setup_profile_name(const struct setup *setup) {
    const char *past = setup->types[0].source->past.profile;
    return past ? past : setup->profile->name;
}

bool setup_adaptive(const struct setup *setup, const struct core_type *type) {
    return type->source->replayed ? type->source->past.adaptive : setup->profile->settings.mode == CONFIG_MODE_ADAPTIVE;
}

bool setup_fetches(const struct setup *setup, const struct core_type *type) {
    return setup->profile->settings.evidence && !setup->chosen_only && !type->topology->boxes;
}

bool setup_is_read(const struct setup *setup, bool sockets) {
    return setup->config->n_listen > 0 || sockets || setup->textfile.folder || setup->record_path;
}

void setup_write_nothing(struct setup *setup) {
    setup->textfile.folder = NULL;
    setup->record_path = NULL;
}

size_t setup_n_cpus(const struct setup *setup) {
    size_t n = 0;
    for (size_t i = 0; i < setup->n_types; i++)
        n += setup->types[i].topology->n_cpus;
    return n;
}

// Replaces a plan by one with what is fetched as well, as far as it has room beside the selections. Slots, and so
// interrupts, stay as they are. If that fails, the plan stays.
static void add_fetched(const struct plan_request *request, const struct setup_plan_request *asked, size_t n_cpus,
                        struct plan **plan) {
    struct plan_request more = *request;
    struct plan *with;
    more.slot_ns = (*plan)->slot_ns;
    more.fetched = asked->fetched;
    more.n_fetched = asked->n_fetched;
    more.fetched_groups = plan_fetch_room(*plan, request->idle, SCHEDULE_ROUND_NS_MAX);
    more.fetched_events = (unsigned)(asked->fetched_files / n_cpus);
    if (plan_new(&more, &with) < 0)
        return;
    plan_free(*plan);
    *plan = with;
}

int setup_plan(const struct setup *setup, const struct core_type *type, const struct setup_plan_request *asked,
               struct errors *errors, struct plan **out) {
    const struct config_settings *settings = &setup->profile->settings;
    uint64_t interval_ns = settings->interval_ns > 0 ? settings->interval_ns : PLAN_INTERVAL_NS;
    bool boxes = type->topology->boxes; // nobody probes their counters, and none is kept free for tasks
    struct plan_request request = {
        .catalog = type->source->catalog,
        .general_counters = boxes ? type->source->catalog->general_counters : asked->general_counters,
        .reserved_counters = boxes ? 0 : asked->reserved_counters,
        .boxes = boxes,
        .selections = type->selections,
        .n_selections = type->n_selections,
        .dead = asked->dead,
        .findings = asked->findings,
        .raised = asked->raised,
        .support = type->source->support,
        .nmi_watchdog = type->source->nmi_watchdog,
        .smt_at_boot = type->source->smt_at_boot,
        .slot_ns = (uint64_t)((double)settings->slot_ns * asked->slot_factor),
        .round_least_ns = setup->round_least_ns,
        .interval_ns = boxes ? (uint64_t)((double)interval_ns * asked->slot_factor) : interval_ns,
        .idle = setup->profile->settings.idle,
        .adaptive = setup->profile->settings.mode == CONFIG_MODE_ADAPTIVE};
    int r = settings->slot_ns > 0 ? plan_new(&request, out)
                                  : schedule_make_plan(&request, type->topology->n_cores, asked->slot_factor, out);
    if (r == 0 && asked->n_fetched > 0)
        add_fetched(&request, asked, type->topology->n_cpus, out);
    if (r == -E2BIG)
        return errors_add(errors, NULL, 0, 0,
                          "profile %s asks for more than %d events or %d event groups: name fewer metric groups",
                          setup->profile->name, PLAN_GROUP_EVENTS_MAX, PLAN_UNITS_MAX);
    return r;
}

int setup_plan_stated(const struct setup *setup, const struct core_type *type, struct errors *errors,
                      struct plan **out) {
    const struct setup_plan_request asked = {.general_counters = type->source->general_counters,
                                             .reserved_counters = setup->profile->settings.reserve_counters,
                                             .slot_factor = 1};
    return setup_plan(setup, type, &asked, errors, out);
}

// A recording's facts take precedence over the configuration; a log of perf has none.
static void take_past(struct setup *setup, const struct options *options, struct core_type *type) {
    const struct source_past *past = &type->source->past;
    setup->of_other_host = type->source->replayed && !past->hostname && !options->paths.hostname;
    if (past->hostname)
        (void)snprintf(setup->hostname, sizeof setup->hostname, "%.255s", past->hostname);
    if (past->profile) { // they belong to another one
        free(type->missing);
        type->missing = NULL;
    }
}

const char *setup_shown_host(const struct setup *setup) { return setup->of_other_host ? NULL : setup->hostname; }

int setup_init(struct setup *setup, const struct options *options, struct errors *errors) {
    *setup = (struct setup){.hostname = "unknown",
                            .revision = options->revision,
                            .speed = options->replay.speed,
                            .steps_fd = options->aside.steps_fd};
    if (options->paths.hostname)
        (void)snprintf(setup->hostname, sizeof setup->hostname, "%s", options->paths.hostname);
    else
        (void)gethostname(setup->hostname, sizeof setup->hostname - 1);
    int found = data_find(options->paths.data, setup->data, sizeof setup->data, errors);
    if (found == 0)
        found = data_open_specs(setup->data, &setup->specs, errors);
    if (found < 0 && found != -EINVAL)
        return found;
    int r = load_config(setup, options, found == 0, errors);
    specs_forget(&setup->specs);
    if (r < 0 || found < 0)
        return r < 0 ? r : found;
    r = choose_addresses(setup, options, errors);
    if (r == 0)
        r = choose_record(setup, options, errors);
    if (r < 0)
        return r;
    choose_textfile(setup, options);
    choose_profile(setup);
    r = adjust_profile(setup, options, errors);
    if (r < 0)
        return r;
    for (size_t i = 0; i < setup->n_types; i++)
        source_choose_guests(setup->types[i].source, setup->profile->settings.guests == CONFIG_GUESTS_SHARE);
    r = make_selections(setup);
    struct core_type *first = &setup->types[0]; // a replay has one core type
    if (r == 0)
        r = source_load(first->source, first->selections, first->n_selections, errors);
    if (r == 0)
        r = find_topologies(setup, errors);
    if (r == 0)
        take_past(setup, options, first);
    if (r == 0)
        r = setup_platform_find(setup);
    return r;
}

void setup_deinit(struct setup *setup) {
    while (setup->n_boxes > 0)
        type_deinit(&setup->types[setup->n_types + --setup->n_boxes]);
    while (setup->n_types > 0)
        type_deinit(&setup->types[--setup->n_types]);
    free(setup->unmeasured.kinds);
    setup_platform_deinit(setup);
    specs_deinit(&setup->specs);
    setup->config = config_free(setup->config);
}
