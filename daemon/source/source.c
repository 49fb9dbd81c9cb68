// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/host/host_guests.h"
#include "collectors/pmu/pmu_linux.h"
#include "collectors/sim/pmu_sim.h"
#include "config/scenario/scenario_json.h"
#include "core/plan/plan.h"
#include "daemon/base/log.h"
#include "daemon/source/source_identify.h"
#include "daemon/source/source_vendor.h"

static const char SOFTWARE[] = "software"; // the spec, and the kernel's PMU, for hosts without a hardware PMU

__attribute__((format(printf, 4, 5))) static void note(struct source *source, const char *pmu, const char *reason,
                                                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = source->error_texts[source->n_errors];
    (void)vsnprintf(text, SOURCE_TEXT_MAX, format, arguments);
    va_end(arguments);
    source->errors[source->n_errors++] = (struct view_pmu_error){.pmu = pmu, .reason = reason, .text = text};
}

static int make_support(struct source *source, enum plan_support support) {
    source->support = malloc(source->catalog->n_events);
    if (!source->support)
        return -ENOMEM;
    memset(source->support, (int)support, source->catalog->n_events);
    return 0;
}

// What formulas may ask of a simulated host.
static void describe_scenario(const struct scenario *scenario, struct environment *out) {
    double sockets = scenario->sockets, cores = sockets * scenario->cores_per_socket;
    environment_init(out);
    out->facts.literals[LITERAL_SMT_ON] = scenario->threads_per_core > 1;
    out->facts.literals[LITERAL_NUM_CPUS] = out->facts.literals[LITERAL_NUM_CPUS_ONLINE] =
        cores * scenario->threads_per_core;
    out->facts.literals[LITERAL_NUM_CORES] = cores;
    out->facts.literals[LITERAL_NUM_DIES] = out->facts.literals[LITERAL_NUM_PACKAGES] = sockets;
    out->facts.literals[LITERAL_HAS_PMEM] = 0;
}

// From the vendor's files, where the configuration names them. 1 where it does not, or they have nothing for this CPU.
static int load_vendors(struct source *source, const struct source_request *request, const char *cpuid, const char *pmu,
                        const struct environment *environment, struct errors *errors, struct catalog_builder **out) {
    char reason[SOURCE_TEXT_MAX];
    if (!request->vendor || !request->vendor->path)
        return 1;
    (void)snprintf(source->vendor_cpuid, sizeof source->vendor_cpuid, "%s", cpuid);
    source->vendor_pmu = pmu ? pmu : "";
    // what a scenario says may happen need not be what a metric reads
    const struct vendor_request vendor = {.specs = request->vendor,
                                          .data = request->data,
                                          .cpuid = cpuid,
                                          .pmu = pmu,
                                          .environment = environment,
                                          .all_events = request->all_events || source->scenario,
                                          .all_warnings = request->options->command == COMMAND_CHECK_CONFIG};
    int r = source_vendor_read(&vendor, errors, reason, sizeof reason, out);
    source->vendors = r == 0;
    if (r == 1)
        note(source, "cpu", "not_in_specs", "the vendor's files are not used: %s", reason);
    return r;
}

// A name without folder and ending is of a scenario that ships.
static void find_scenario(struct source *source, const struct source_request *request) {
    const char *name = request->options->scenario ? request->options->scenario : "demo";
    if (strpbrk(name, "/."))
        (void)snprintf(source->scenario_path, sizeof source->scenario_path, "%s", name);
    else
        (void)snprintf(source->scenario_path, sizeof source->scenario_path, "%s/scenarios/%.60s.json", request->data,
                       name);
}

// Has a scenario already.
static int init_sim(struct source *source, const struct source_request *request, struct errors *errors) {
    struct environment environment;
    char cpuid[HOST_CPUID_MAX];
    describe_scenario(source->scenario, &environment);
    source_vendor_cpuid(&request->specs->cpus, source->scenario->spec, cpuid, sizeof cpuid);
    struct catalog_builder *builder;
    int r = load_vendors(source, request, cpuid, NULL, &environment, errors, &builder);
    if (r == 1)
        r = specs_read(request->specs, source->scenario->spec, &environment, errors, &builder);
    if (r < 0)
        return r;
    source->catalog = catalog_builder_finish(builder);
    r = make_support(source, PLAN_SUPPORT_UNKNOWN);
    if (r < 0)
        return r;
    source->simulated = true;
    source->pmu_name = "simulated";
    source->microarchitecture = source->catalog->product.microarchitecture;
    source->general_counters = source->scenario->general_counters;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "%s", source->catalog->product.vendor);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "%s", source->catalog->product.name);
    return 0;
}

// ---- a replay ----

static int init_replay(struct source *source, const struct source_request *request, struct errors *errors) {
    const struct options *options = request->options;
    const struct tape_request tape = {.path = options->replay,
                                      .spec = options->spec,
                                      .specs = request->specs,
                                      .vendor = request->vendor,
                                      .data = request->data};
    int r = tape_open(&tape, errors, &source->catalog, &source->tape);
    if (r < 0)
        return r;
    const struct recording_header *header = &source->tape->header;
    source->pmu_name = "replay";
    source->simulated = header->simulated;
    source->exclude_guest = header->guests_excluded;
    source->microarchitecture = header->microarchitecture;
    source->general_counters = source->catalog->general_counters;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->vendor);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->model);
    if (header->core_type[0] != '\0')
        source_name_type(source, header->core_type);
    return make_support(source, PLAN_SUPPORT_UNKNOWN);
}

int source_load_tape(struct source *source, const struct plan_selection *selections, size_t n_selections,
                     struct errors *errors) {
    return source->tape ? tape_load(source->tape, selections, n_selections, errors) : 0;
}

// ---- this host's own PMU ----

// Reads a spec with its formulas compiled for this host: of the vendor's files where they are to be used and have this
// CPU, else `name`. 1 where there is none (NULL).
static int load_spec(struct source *source, const struct source_request *request, const char *name, bool vendors,
                     struct errors *errors, struct catalog_builder **out) {
    struct environment environment;
    const char *pmu = source->cores.pmu;
    bool replaced = source->cores.pmu_replaces;
    (void)snprintf(source->pmu_found, sizeof source->pmu_found, "%s", pmu[0] != '\0' ? pmu : "cpu");
    source->events = (struct host_events){.roots = source->roots, .pmu = source->pmu_found};
    host_cpu_environment(&source->events, source->cores.first_cpu, &environment);
    const struct environment_listener listener = {
        .has_event = environment.has_event, .context = environment.context, .answers = &source->answers};
    environment.has_event = environment_listen;
    environment.context = &listener;
    int r = vendors ? load_vendors(source, request, environment.facts.cpuid, replaced ? source->pmu_found : NULL,
                                   &environment, errors, out)
                    : 1;
    if (r == 1 && name)
        r = specs_read(request->specs, name, &environment, errors, out);
    return r;
}

static void note_binding(struct source *source, const struct host_binding *binding) {
    const struct catalog *catalog = source->catalog;
    if (!source->vendors && source->cores.row->pmu)
        note(source, source->pmu_name, "unknown_core",
             "there is no spec for this CPU: the architecture's common events are measured, without level 1");
    if (binding->resident_dropped)
        note(source, source->pmu_name, "no_slots",
             "the kernel does not show the PMU's own Topdown counters, as in most virtual machines: %s",
             catalog->level1.present ? "level 1 is measured with ordinary events instead" : "there is no level 1");
    if (binding->n_cannot > 0)
        note(source, source->pmu_name, "events_unknown",
             "the kernel cannot express %zu of the spec's events, and the metrics that need them are not measured",
             binding->n_cannot);
}

// The kernel's PMU of the spec's name or pattern that counts on this type's CPUs. False where there is none.
static bool find_pmu(struct source *source, const struct catalog_product *product) {
    struct host_core_pmu pmus[HOST_CORES_MAX];
    size_t n = host_cores_pmus(&source->roots, product->pmu, pmus, HOST_CORES_MAX), i = 0;
    while (i < n && !cpuset_has(&pmus[i].cpus, source->cores.first_cpu))
        i++;
    if (i == n)
        return false;
    memcpy(source->pmu_found, pmus[i].name, sizeof source->pmu_found);
    source->pmu_types[0] = pmus[i].type;
    return true;
}

// The spec of these cores, bound to their PMU. 1 where the kernel has no such PMU.
static int init_hardware(struct source *source, const struct source_request *request, struct errors *errors) {
    struct host_binding binding;
    struct catalog_builder *builder;
    int r = load_spec(source, request, source->cores.row ? source->cores.row->spec : NULL, true, errors, &builder);
    if (r != 0)
        return r;
    r = find_pmu(source, &catalog_builder_catalog(builder)->product)
            ? host_bind(&source->roots, source->pmu_found, source->pmu_types[0], builder, &binding)
            : 1;
    if (r != 0) {
        catalog_builder_free(builder);
        return r;
    }
    source->pmu_name = source->pmu_found;
    source->catalog = catalog_builder_finish(builder);
    const struct catalog *catalog = source->catalog;
    source->support = binding.support; // ours from here on
    memcpy(source->pmu_types, binding.types, sizeof source->pmu_types);
    source->microarchitecture =
        !source->vendors && source->cores.row->pmu ? "unknown" : catalog->product.microarchitecture;
    source->resident_dropped = binding.resident_dropped;
    source->general_counters = catalog->general_counters;
    source->nmi_watchdog = source->cpuid[0] != '\0' && host_cpu_nmi_watchdog(&source->roots);
    note_binding(source, &binding);
    return 0;
}

static void note_no_hardware(struct source *source, int error) {
    char remedy[PMU_LINUX_REMEDY_MAX];
    pmu_linux_remedy(error, 0, remedy, sizeof remedy);
    note(source, "cpu", pmu_linux_reason(error),
         "no hardware PMU can be used (%s), so there is no Topdown, no MPKI and no miss ratio; the kernel's software "
         "events are measured instead: %s",
         strerror(-error), remedy);
}

static int init_software(struct source *source, const struct source_request *request, struct errors *errors) {
    source->cores = (struct host_cores){.row = NULL};
    source->several = false;
    source->vendors = false;
    source->catalog = catalog_free(source->catalog);
    struct catalog_builder *builder;
    int r = load_spec(source, request, SOFTWARE, false, errors, &builder);
    if (r < 0)
        return r;
    source->catalog = catalog_builder_finish(builder);
    r = make_support(source, PLAN_SUPPORTED);
    if (r < 0)
        return r;
    source->pmu_name = source->catalog->product.pmu;
    source->microarchitecture = "unknown";
    if (host_linux_pmu_type(&source->roots, source->pmu_name, &source->pmu_types[0]) < 0)
        return errors_add(errors, NULL, 0, 0,
                          "%s/bus/event_source/devices/%s/type cannot be read: mount sysfs, say where it is with "
                          "--path.sysfs, or use a kernel with perf events",
                          source->roots.sysfs, source->pmu_name);
    int hardware = pmu_linux_probe_hardware();
    if (hardware == 0)
        note(source, "cpu", "unsupported",
             "this host has a hardware PMU, and this version has no spec for it yet: only the kernel's software events "
             "are measured");
    else
        note_no_hardware(source, hardware);
    return 0;
}

// ---- types of cores ----

// One more, which is the caller's; NULL where memory is short.
static struct source *add_source(const struct source_request *request, struct source *out[SOURCE_TYPES_MAX],
                                 size_t *n) {
    const struct options *options = request->options;
    struct source *source = calloc(1, sizeof *source);
    if (!source)
        return NULL;
    source->roots = (struct host_roots){.sysfs = options->sysfs, .procfs = options->procfs};
    source->cpus = &request->specs->cpus;
    host_cpu_describe(&source->roots, &source->cpu);
    return out[(*n)++] = source;
}

static int find_sim(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                    size_t *n) {
    struct scenario *rest = NULL;
    int r = 0;
    do {
        struct source *source = add_source(request, out, n);
        if (!source) {
            scenario_free(rest);
            return -ENOMEM;
        }
        find_scenario(source, request);
        if (!rest)
            r = scenario_json_load(source->scenario_path, errors, &rest);
        if (r < 0)
            return r;
        source->scenario = rest;
        rest = rest->next;
        source->scenario->next = NULL;
        source->several = rest || *n > 1;
        r = init_sim(source, request, errors);
    } while (r == 0 && rest);
    scenario_free(rest);
    return r;
}

// Arm cores of a host with several types are described by what they themselves say.
static void describe_cores(struct source *source, const struct host_kinds *kinds, size_t kind) {
    source->cores = kinds->kinds[kind];
    source->several = kinds->several;
    memcpy(source->cpuid, kinds->cpuid, sizeof source->cpuid);
    if (!kinds->several || source->cores.midr == 0)
        return;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "0x%02x", source->cores.midr >> 24);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "0x%03x", source->cores.midr >> 4 & 0xfff);
}

// Takes the last source out again; the first that is taken out is kept in *dropped.
static void drop_source(struct source *out[SOURCE_TYPES_MAX], size_t *n, struct source **dropped) {
    struct source *last = out[--*n];
    if (*dropped)
        source_free(last);
    else
        *dropped = last;
}

static int find_types(const struct source_request *request, const struct host_kinds *kinds, struct errors *errors,
                      struct source *out[SOURCE_TYPES_MAX], size_t *n, struct source **dropped) {
    for (size_t kind = 0; kind < kinds->n; kind++) {
        struct source *source = add_source(request, out, n);
        if (!source)
            return -ENOMEM;
        describe_cores(source, kinds, kind);
        int r = init_hardware(source, request, errors);
        if (r < 0)
            return r;
        if (r == 1)
            drop_source(out, n, dropped);
    }
    return 0;
}

// Software events where no type can be measured; what was said of the first is said then, too.
static int find_hardware(const struct source_request *request, struct errors *errors,
                         struct source *out[SOURCE_TYPES_MAX], size_t *n) {
    struct host_roots roots = {.sysfs = request->options->sysfs, .procfs = request->options->procfs};
    struct source *dropped = NULL;
    struct host_kinds kinds;
    host_cores_find(&roots, &request->specs->cpus, request->vendor && request->vendor->path, &kinds);
    int r = find_types(request, &kinds, errors, out, n, &dropped);
    if (r < 0 || *n > 0) {
        source_free(dropped);
        return r;
    }
    if (dropped)
        out[(*n)++] = dropped;
    else if (!add_source(request, out, n))
        return -ENOMEM;
    return init_software(out[0], request, errors);
}

int source_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                size_t *n) {
    int r;
    *n = 0;
    if (request->options->pmu == PMU_SIM) {
        r = find_sim(request, errors, out, n);
    } else if (request->options->pmu == PMU_REPLAY) {
        struct source *source = add_source(request, out, n);
        r = source ? init_replay(source, request, errors) : -ENOMEM;
    } else {
        r = find_hardware(request, errors, out, n);
    }
    if (r == 0 && out[0]->several)
        source_name_types(out, *n);
    return r;
}

struct source *source_free(struct source *source) {
    if (!source)
        return NULL;
    source->tape = tape_free(source->tape);
    free(source->support);
    catalog_free(source->catalog);
    scenario_free(source->scenario);
    free(source);
    return NULL;
}

// ---- CPUs ----

int source_topology_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out) {
    struct source_cpus cpus;
    struct topology *candidate;
    if (source->scenario)
        return 0;
    source_choose_cpus(source, selected, false, &cpus);
    int r = host_linux_topology_update(&source->roots, &cpus.choice, known, &candidate);
    if (r <= 0)
        return r;
    topology_free(candidate); // only now is it worth asking every CPU what core it is
    source_choose_cpus(source, selected, true, &cpus);
    return host_linux_topology_update(&source->roots, &cpus.choice, known, out);
}

static int find_topology(const struct source *source, const struct cpuset *selected, struct errors *errors,
                         struct topology **out) {
    struct source_cpus cpus;
    struct errors found = {0};
    source_choose_cpus(source, selected, true, &cpus);
    int r = host_linux_topology(&source->roots, &cpus.choice, &found, out);
    if (r == -EINVAL && source->several && found.items[0].file[0] == '\0')
        return -ENOENT; // every CPU that is selected is of another type
    for (size_t i = 0; i < found.n; i++)
        (void)errors_add(errors, found.items[i].file, found.items[i].line, found.items[i].column, "%s",
                         found.items[i].text);
    return r;
}

int source_topology(struct source *source, const struct cpuset *selected, struct errors *errors,
                    struct topology **out) {
    if (source->tape) {
        *out = topology_copy(source->tape->topology);
        return *out ? 0 : -ENOMEM;
    }
    if (!source->scenario)
        return find_topology(source, selected, errors, out);
    int r = pmu_sim_topology(source->scenario, selected, out);
    if (r == -EINVAL && source->several)
        return -ENOENT;
    return r == -EINVAL ? errors_add(errors, NULL, 0, 0, "the simulated host has none of the CPUs that `cpus` names")
                        : r;
}

void source_note_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected) {
    struct source *first = sources[0];
    char specs[SOURCE_TEXT_MAX / 2] = "";
    size_t n_other = first->scenario || first->tape ? 0 : source_count_other_cores(sources, n, selected);
    if (n_other == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(specs);
        (void)snprintf(specs + length, sizeof specs - length, "%s%s", i > 0 ? ", " : "",
                       sources[i]->catalog->product.spec);
    }
    note(first, first->pmu_name, "other_cores",
         "%zu CPUs have cores of another kind than those that are measured (spec %s), and are left out", n_other,
         specs);
    first->errors[first->n_errors - 1].of_host = first->several;
}

void source_choose_guests(struct source *source, bool share) {
    if (source->tape)
        return; // as it was
    source->exclude_guest =
        !source->scenario && source_takes_counters(source) && !share && host_guests_possible(&source->roots);
}

int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    if (!source->scenario)
        return pmu_linux_new(source->pmu_types, source->catalog->n_pmus, source->exclude_guest, out);
    const char *unknown = NULL;
    int r = pmu_sim_new(source->scenario, source->catalog, now_ns, &unknown, out);
    return r == -EINVAL ? errors_add(errors, source->scenario_path, 0, 0,
                                     "the event %.80s has no such rate, or spec %s does not have it",
                                     unknown ? unknown : "?", source->catalog->product.spec)
                        : r;
}

bool source_note_open_error(struct source *source, int error, size_t n_failed, size_t files) {
    if (error == source->open_error)
        return false;
    if (source->open_error != 0) {
        source->n_errors--;
        log_info("%s%s: event groups can be opened again", source->prefix, source->pmu_name);
    }
    source->open_error = error;
    if (error != 0) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(error, files, remedy, sizeof remedy);
        note(source, source->pmu_name, pmu_linux_reason(error), "%zu event groups could not be opened (%s): %s",
             n_failed, strerror(-error), remedy);
        log_warning("%s%s: %s", source->prefix, source->pmu_name, source->errors[source->n_errors - 1].text);
    }
    return true;
}

bool source_takes_counters(const struct source *source) {
    return source->scenario ? source->general_counters > 0 : strcmp(source->catalog->product.pmu, SOFTWARE) != 0;
}

bool source_watchdog_holds(const struct source *source, size_t event) {
    const struct catalog *catalog = source->catalog;
    return source->nmi_watchdog && catalog->watchdog_event >= 0 && catalog->events[event].fixed &&
           catalog->events[event].need.fixed == catalog->events[catalog->watchdog_event].need.fixed;
}

// An event and the same one with modifiers have one counter.
unsigned source_fixed_counters(const struct source *source) {
    uint64_t fixed = 0;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        if (source->catalog->events[e].fixed && !source_watchdog_holds(source, e))
            fixed |= UINT64_C(1) << source->catalog->events[e].need.fixed;
    return (unsigned)__builtin_popcountll(fixed);
}
