// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_host.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/host/host_file.h"
#include "collectors/host/host_guests.h"
#include "collectors/pmu/pmu_linux.h"
#include "core/spec/kernel_pmu.h"
#include "daemon/base/log.h"
#include "daemon/source/source_identify.h"

static struct source_host *of(struct source *source) { return (struct source_host *)source; }
static const struct source_host *of_const(const struct source *source) { return (const struct source_host *)source; }

// ---- the driver ----

static int host_topology(struct source *source, const struct cpuset *selected, struct errors *errors,
                         struct topology **out) {
    struct source_cpus cpus;
    struct errors found = {0};
    source_choose_cpus(of(source), selected, true, &cpus);
    int r = host_linux_topology(&source->roots, &cpus.choice, &found, out);
    if (r == -EINVAL && source->several && found.items[0].file[0] == '\0')
        return -ENOENT; // every selected CPU is of another type
    for (size_t i = 0; i < found.n; i++)
        (void)errors_add(errors, found.items[i].file, found.items[i].line, found.items[i].column, "%s",
                         found.items[i].text);
    errors->passing = errors->passing || found.passing;
    return r;
}

static int host_topology_update(const struct source *source, const struct cpuset *selected,
                                const struct topology *known, struct topology **out) {
    struct source_cpus cpus;
    struct topology *candidate;
    source_choose_cpus(of_const(source), selected, false, &cpus);
    int r = host_linux_topology_update(&source->roots, &cpus.choice, known, &candidate);
    if (r <= 0)
        return r;
    topology_free(candidate); // only now is it worth checking every CPU's core
    source_choose_cpus(of_const(source), selected, true, &cpus);
    return host_linux_topology_update(&source->roots, &cpus.choice, known, out);
}

static size_t host_count_other_cores(struct source *const *sources, size_t n, const struct cpuset *selected) {
    const struct source_host *hosts[SOURCE_TYPES_MAX];
    for (size_t i = 0; i < n; i++)
        hosts[i] = of_const(sources[i]);
    return source_count_other_cores(hosts, n, selected);
}

static void host_choose_guests(struct source *source, bool share) {
    source->exclude_guest = source->takes_counters && !share && host_guests_possible(&source->roots);
}

// It takes a counter of x86 CPUs only.
static bool host_watchdog_on(const struct source *source) {
    return source->takes_counters && of_const(source)->cpuid[0] != '\0' && host_cpu_nmi_watchdog(&source->roots);
}

static int host_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    (void)now_ns;
    (void)errors;
    return pmu_linux_new(of_const(source)->pmu_types, source->catalog->n_pmus, source->exclude_guest, out);
}

static int host_count_tasks(const struct source *source, const struct source_tasks *asked,
                            struct pmu_linux_tasks **out) {
    const struct pmu_linux_tasks_request request = {.types = of_const(source)->pmu_types,
                                                    .n_types = source->catalog->n_pmus,
                                                    .exclude_guest = source->exclude_guest,
                                                    .pid = asked->pid,
                                                    .user_only = asked->user_only};
    return pmu_linux_tasks_new(&request, out);
}

static bool host_same(const struct source *a, const struct source *b) {
    return memcmp(of_const(a)->pmu_types, of_const(b)->pmu_types, sizeof of_const(a)->pmu_types) == 0;
}

// Says why there are software events alone, given what opening an event of the hardware gave.
static void note_no_hardware(struct source *source, int error) {
    if (error == 0) {
        source_note(source, "cpu", "unsupported",
                    "this host has a hardware PMU, and this version has no spec for it yet: only the kernel's software "
                    "events are measured");
        return;
    }
    char remedy[PMU_LINUX_REMEDY_MAX];
    pmu_linux_remedy(error, 0, remedy, sizeof remedy);
    source_note(source, "cpu", pmu_linux_reason(error),
                "no hardware PMU can be used (%s): no Topdown, no MPKI and no miss ratio, only software events; %s",
                strerror(-error), remedy);
}

// Whoever may not count cannot know what there is.
static void look_again(struct source *source) {
    struct source_troubles *troubles = &source->troubles;
    int error = troubles->no_hardware < 0 ? pmu_linux_probe_hardware() : troubles->no_hardware;
    if (error == troubles->no_hardware)
        return;
    size_t n = troubles->n;
    troubles->no_hardware = error;
    troubles->n = troubles->hardware_note;
    note_no_hardware(source, error);
    log_info("%s", troubles->errors[troubles->hardware_note].text);
    troubles->n = n;
}

static const struct source_driver DRIVER = {.topology = host_topology,
                                            .allowed = look_again,
                                            .topology_update = host_topology_update,
                                            .count_other_cores = host_count_other_cores,
                                            .choose_guests = host_choose_guests,
                                            .watchdog_on = host_watchdog_on,
                                            .pmu = host_pmu,
                                            .tasks = host_count_tasks,
                                            .same = host_same};

// ---- filling ----

// Reads a spec with its formulas compiled for this host: from the vendor's files if they are in use and cover this CPU,
// else `name`. 1 if there is none (NULL).
static int load_spec(struct source_host *host, const struct source_request *request, const char *name, bool vendors,
                     struct errors *errors, struct catalog_builder **out) {
    struct source *source = &host->source;
    struct environment environment;
    const char *pmu = host->cores.pmu;
    bool replaced = host->cores.pmu_replaces;
    (void)snprintf(host->pmu_found, sizeof host->pmu_found, "%s", pmu[0] != '\0' ? pmu : "cpu");
    host->events = (struct host_events){.roots = source->roots, .pmu = host->pmu_found};
    host_cpu_environment(&host->events, host->cores.first_cpu, &environment);
    double *clock = &environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ];
    if (isnan(*clock))
        *clock = pmu_linux_clock_frequency();
    const struct environment_listener listener = {
        .has_event = environment.has_event, .context = environment.context, .answers = &source->making.answers};
    environment.has_event = environment_listen;
    environment.context = &listener;
    const struct source_vendors files = {.cpuid = environment.facts.cpuid,
                                         .pmu = replaced ? host->pmu_found : NULL,
                                         .environment = &environment,
                                         .all_events = request->all_events};
    struct catalog_builder *builder;
    int r = vendors ? source_load_vendors(source, request, &files, errors, &builder) : 1;
    if (r == 1 && name)
        r = specs_read(request->specs, name, &environment, errors, &builder);
    if (r != 0)
        return r;
    r = specs_add_software(request->specs, errors, builder);
    if (r == 0)
        *out = builder;
    else
        catalog_builder_free(builder);
    return r;
}

static int ask(const struct source_host *host, const struct catalog_event *event) {
    return pmu_linux_probe_event(host->pmu_types[0], event->code.config, host->cores.first_cpu);
}

// True for an answer that may be about the event; others are about permissions.
static bool is_refusal(int r) { return r == -ENOENT || r == -EOPNOTSUPP || r == -EINVAL; }

// True if one of the core PMU's plain events opens: then a refusal is about the event.
static bool core_opens(const struct source_host *host, const struct catalog *catalog) {
    int r = -ENOENT;
    for (size_t e = 0; e < catalog->n_events && is_refusal(r); e++) {
        const struct catalog_event *event = &catalog->events[e];
        if (event->kind == EVENT_COUNTED && event->code.pmu == 0 && event->code.config1 == 0 && !event->topdown)
            r = ask(host, event);
    }
    return r == 0;
}

// True if the kernel shows the PMU's topdown counters and refuses their leader, as in virtual machines with an older
// kernel. The leader would lead every event group, and nothing would be measured.
static bool refuses_topdown(const struct source_host *host, const struct catalog *catalog) {
    return catalog->n_topdown > 0 && is_refusal(ask(host, &catalog->events[catalog->topdown[0]])) &&
           core_opens(host, catalog);
}

// The kernel's driver of a CPU says which of the generic events it translates by what it opens. Where nothing opens,
// the reason is another one, which opening the event groups will tell.
static int rule_out_refused(struct source_host *host) {
    const struct source *source = &host->source;
    size_t n_opened = 0, n_refused = 0, n = source->catalog->n_events;
    bool *refused = calloc(n, sizeof *refused);
    for (size_t e = 0; e < n && refused; e++) {
        const struct catalog_event *event = &source->catalog->events[e];
        uint32_t type;
        if (event->kind != EVENT_COUNTED || !kernel_pmu_type(source->catalog->pmus[event->code.pmu], &type))
            continue;
        int r = pmu_linux_probe_event(type, event->code.config, host->cores.first_cpu);
        refused[e] = is_refusal(r);
        n_refused += refused[e];
        n_opened += r == 0;
    }
    bool counts = n_opened > 0 || (n_refused > 0 && core_opens(host, source->catalog));
    for (size_t e = 0; e < n && counts; e++)
        if (refused[e])
            source->support[e] = PLAN_UNSUPPORTED;
    free(refused);
    return n == 0 || refused ? 0 : -ENOMEM;
}

// Linux has files for some CPUs that have no spec.
static void note_unknown(struct source_host *host) {
    const struct cpu_identity identity = {.has_midr = host->cores.midr != 0,
                                          .midr = host->cores.midr,
                                          .cpuid = host->cpuid[0] != '\0' ? host->cpuid : NULL,
                                          .core = host->cores.pmu};
    const char *folder = cpu_map_find_files(host->cpus, &identity);
    char files[256] = "";
    if (folder)
        (void)snprintf(files, sizeof files,
                       "; Linux describes it in tools/perf/pmu-events/arch/%.80s: if these files hold metrics, "
                       "'specs: {path: FOLDER, format: perf}' with a copy of arch measures them",
                       folder);
    source_note(&host->source, host->source.pmu_name, "unknown_core",
                "there is no spec for this CPU: %s common events are measured, %s%s",
                host->kernel_events ? "the kernel's" : "the architecture's",
                host->source.catalog->level1.present ? "and level 1 by the Topdown events that the kernel shows"
                                                     : "without level 1",
                files);
}

static void note_binding(struct source_host *host, const struct host_binding *binding) {
    struct source *source = &host->source;
    const struct catalog *catalog = source->catalog;
    if (!source->vendors && host->cores.row->pmu)
        note_unknown(host);
    if (binding->topdown_dropped)
        source_note(source, source->pmu_name, "no_slots",
                    "the kernel does not offer the PMU's own Topdown counters, as in most virtual machines: %s",
                    catalog->level1.present ? "level 1 is measured with ordinary events instead"
                                            : "there is no level 1");
    if (binding->n_cannot > 0)
        source_note(
            source, source->pmu_name, "events_unknown",
            "the kernel cannot express %zu of the spec's events, and the metrics that need them are not measured",
            binding->n_cannot);
}

// Finds the kernel's PMU of the spec's name or pattern that counts on this type's CPUs; generic events of the kernel
// count on whatever PMU these have. False if there is none.
static bool find_pmu(struct source_host *host, const struct catalog_product *product) {
    const struct source *source = &host->source;
    struct host_core_pmu pmus[HOST_CORES_MAX];
    host->kernel_events = kernel_pmu_type(product->pmu, &host->pmu_types[0]);
    if (host->kernel_events)
        return host->cores.pmu[0] != '\0';
    size_t n = host_cores_pmus(&source->roots, product->pmu, pmus, HOST_CORES_MAX), i = 0;
    while (i < n && !cpuset_has(&pmus[i].cpus, host->cores.first_cpu))
        i++;
    if (i == n)
        return false;
    memcpy(host->pmu_found, pmus[i].name, sizeof host->pmu_found);
    host->pmu_types[0] = pmus[i].type;
    return true;
}

// Reads the spec of these cores and binds it to their PMU. 1 if the kernel has no such PMU.
static int init_hardware(struct source_host *host, const struct source_request *request, struct errors *errors) {
    struct source *source = &host->source;
    struct host_binding binding;
    struct catalog_builder *builder;
    int r = load_spec(host, request, host->cores.row ? host->cores.row->spec : NULL, true, errors, &builder);
    if (r != 0)
        return r;
    const struct catalog_product *product = &catalog_builder_catalog(builder)->product;
    r = find_pmu(host, product) ? host_bind(&source->roots, host->kernel_events ? product->pmu : host->pmu_found,
                                            host->pmu_types[0], builder, &binding)
                                : 1;
    if (r != 0) {
        catalog_builder_free(builder);
        return r;
    }
    if (refuses_topdown(host, catalog_builder_catalog(builder)))
        host_bind_drop_topdown(builder, &binding);
    source->pmu_name = host->pmu_found;
    source->catalog = catalog_builder_finish(builder);
    const struct catalog *catalog = source->catalog;
    source->support = binding.support; // takes ownership
    memcpy(host->pmu_types, binding.types, sizeof host->pmu_types);
    source->microarchitecture =
        !source->vendors && host->cores.row->pmu ? "unknown" : catalog->product.microarchitecture;
    source->making.topdown_dropped = binding.topdown_dropped;
    source->takes_counters = true;
    source->general_counters = catalog->general_counters;
    source->watchdog_on = source->nmi_watchdog = host_watchdog_on(source);
    source->smt_at_boot = host_cpu_smt_at_boot(&source->roots);
    note_binding(host, &binding);
    return rule_out_refused(host);
}

static int init_software(struct source_host *host, const struct source_request *request, struct errors *errors) {
    struct source *source = &host->source;
    host->cores = (struct host_cores){.row = NULL};
    source->own_spec = NULL;
    source->first_cpu = 0;
    source->several = false;
    source->vendors = false;
    struct catalog_builder *builder;
    int r = load_spec(host, request, SPEC_SOFTWARE, false, errors, &builder);
    if (r < 0)
        return r;
    source->catalog = catalog_builder_finish(builder);
    r = source_make_support(source, PLAN_SUPPORTED);
    if (r < 0)
        return r;
    source->pmu_name = source->catalog->product.pmu;
    source->microarchitecture = "unknown";
    r = host_linux_pmu_type(&source->roots, source->pmu_name, &host->pmu_types[0]);
    if (error_passes(r))
        return errors_add_failure(errors, source->pmu_name, "the type of this PMU cannot be read", r);
    if (r < 0)
        return errors_add(errors, NULL, 0, 0,
                          "%s/bus/event_source/devices/%s/type cannot be read: mount sysfs, say where it is with "
                          "--path.sysfs, or use a kernel with perf events",
                          source->roots.sysfs, source->pmu_name);
    source->troubles.no_hardware = pmu_linux_probe_hardware();
    source->troubles.hardware_note = source->troubles.n;
    note_no_hardware(source, source->troubles.no_hardware);
    return 0;
}

// ---- core types ----

// Adds a source, which the caller owns; NULL if out of memory.
static struct source_host *add(const struct source_request *request, struct source *out[SOURCE_TYPES_MAX], size_t *n) {
    struct source_host *host = calloc(1, sizeof *host);
    if (!host)
        return NULL;
    struct source *source = &host->source;
    source->driver = &DRIVER;
    source->roots = (struct host_roots){
        .sysfs = request->options->paths.sysfs, .procfs = request->options->paths.procfs, .kept = host_files_new()};
    host->cpus = &request->specs->cpus;
    host_cpu_describe(&source->roots, &source->cpu);
    out[(*n)++] = source;
    return host;
}

// On a host with several core types each Arm core's own registers identify it.
static void describe_cores(struct source_host *host, const struct host_kinds *kinds, size_t kind) {
    struct source *source = &host->source;
    const struct cpu_row *row = kinds->kinds[kind].row;
    host->cores = kinds->kinds[kind];
    source->first_cpu = host->cores.first_cpu;
    source->own_spec = row && !row->pmu ? row->spec : NULL;
    source->several = kinds->several;
    memcpy(host->cpuid, kinds->cpuid, sizeof host->cpuid);
    if (!kinds->several || host->cores.midr == 0)
        return;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "0x%02x", host->cores.midr >> 24);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "0x%03x", host->cores.midr >> 4 & 0xfff);
}

// Removes the last source; the first one removed is kept in *dropped.
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
        struct source_host *host = add(request, out, n);
        if (!host)
            return -ENOMEM;
        describe_cores(host, kinds, kind);
        int r = init_hardware(host, request, errors);
        if (r < 0)
            return r;
        if (r == 1)
            drop_source(out, n, dropped);
    }
    return 0;
}

// Uses software events if no core type can be measured; then it also reports the first type's troubles.
int source_host_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                     size_t *n) {
    struct host_roots roots = {.sysfs = request->options->paths.sysfs, .procfs = request->options->paths.procfs};
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
    else if (!add(request, out, n))
        return -ENOMEM;
    return init_software(of(out[0]), request, errors);
}
