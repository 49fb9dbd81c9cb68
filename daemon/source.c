// SPDX-License-Identifier: Apache-2.0
#include "daemon/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host_guests.h"
#include "collectors/pmu_linux.h"
#include "collectors/pmu_sim.h"
#include "config/scenario_json.h"
#include "core/identify.h"
#include "core/plan.h"
#include "daemon/log.h"

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

static int choose_spec(struct source *source, const struct specs *specs, const char *name, struct errors *errors) {
    source->catalog = specs_find(specs, name);
    return source->catalog
               ? 0
               : errors_add(errors, NULL, 0, 0, "there is no spec '%s' among those that ship with topdownd", name);
}

static int make_support(struct source *source, enum plan_support support) {
    source->support = malloc(source->catalog->n_events);
    if (!source->support)
        return -ENOMEM;
    memset(source->support, (int)support, source->catalog->n_events);
    return 0;
}

static int init_sim(struct source *source, const struct options *options, const char *data, const struct specs *specs,
                    struct errors *errors) {
    if (options->scenario)
        (void)snprintf(source->scenario_path, sizeof source->scenario_path, "%s", options->scenario);
    else
        (void)snprintf(source->scenario_path, sizeof source->scenario_path, "%s/scenarios/demo.json", data);
    int r = scenario_json_load(source->scenario_path, errors, &source->scenario);
    if (r == 0)
        r = choose_spec(source, specs, source->scenario->spec, errors);
    if (r == 0)
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

static int init_replay(struct source *source, const struct options *options, const struct specs *specs,
                       struct errors *errors) {
    int r = tape_open(options->replay, options->spec, specs, errors, &source->tape);
    if (r < 0)
        return r;
    const struct recording_header *header = &source->tape->header;
    source->catalog = source->tape->catalog;
    source->pmu_name = "replay";
    source->simulated = header->simulated;
    source->exclude_guest = header->guests_excluded;
    source->microarchitecture = header->microarchitecture;
    source->general_counters = source->catalog->general_counters;
    (void)snprintf(source->cpu.vendor, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->vendor);
    (void)snprintf(source->cpu.model, HOST_TEXT_MAX, "%.*s", HOST_TEXT_MAX - 1, header->model);
    return make_support(source, PLAN_SUPPORT_UNKNOWN);
}

int source_load_tape(struct source *source, const struct plan_selection *selections, size_t n_selections,
                     struct errors *errors) {
    return source->tape ? tape_load(source->tape, selections, n_selections, errors) : 0;
}

// ---- this host's own PMU ----

static void find_candidates(struct source *source, const struct specs *specs) {
    char name[HOST_TEXT_MAX];
    uint32_t type;
    for (size_t i = 0; i < specs->n; i++)
        if ((specs->catalogs[i]->product.n_midrs > 0 || specs->catalogs[i]->product.generic) &&
            host_linux_find_pmu(&source->roots, specs->catalogs[i]->product.pmu, name, sizeof name, &type) == 0)
            source->candidates[source->n_candidates++] = specs->catalogs[i];
}

// The spec for a CPU. NULL where the kernel does not say what core it is (it is offline, or no Arm core), or where no
// spec is for it.
static const struct catalog *spec_of_cpu(const struct source *source, unsigned cpu) {
    uint32_t midr;
    if (source->n_candidates == 0 || host_linux_midr(&source->roots, cpu, &midr) < 0)
        return NULL;
    return catalog_choose_midr(source->candidates, source->n_candidates, midr);
}

// The spec of the first CPU that has one.
static const struct catalog *choose_by_identity(const struct source *source) {
    const struct catalog *catalog = NULL;
    for (unsigned cpu = 0; cpu < CPUSET_MAX && source->n_candidates > 0 && !catalog; cpu++)
        catalog = spec_of_cpu(source, cpu);
    return catalog;
}

// What the PMU rules out is out. What it advertises still has to show that it counts: a driver may advertise events
// that the machine below it never counts.
static int find_support(struct source *source) {
    struct host_pmu_events events = {0};
    int r = make_support(source, PLAN_SUPPORT_UNKNOWN);
    if (r < 0)
        return r;
    r = host_linux_pmu_events(&source->roots, source->pmu_name, &events);
    if (r == -ENOMEM)
        return r;
    for (size_t e = 0; e < source->catalog->n_events && r == 0; e++)
        if (host_pmu_events_rule_out(&events, source->catalog->events[e].code.config))
            source->support[e] = PLAN_UNSUPPORTED;
    host_pmu_events_deinit(&events);
    return 0;
}

static int init_hardware(struct source *source, const struct catalog *catalog, struct errors *errors) {
    source->catalog = catalog;
    if (host_linux_find_pmu(&source->roots, catalog->product.pmu, source->pmu_found, sizeof source->pmu_found,
                            &source->pmu_type) < 0)
        return errors_add(errors, NULL, 0, 0, "the PMU %s has gone", catalog->product.pmu);
    source->pmu_name = source->pmu_found;
    source->microarchitecture = catalog->product.generic ? "unknown" : catalog->product.microarchitecture;
    source->general_counters = catalog->general_counters;
    if (catalog->product.generic)
        note(source, source->pmu_name, "unknown_core",
             "there is no spec for this CPU: the architecture's common events are measured, without level 1");
    return find_support(source);
}

static void note_no_hardware(struct source *source, int error) {
    char remedy[PMU_LINUX_REMEDY_MAX];
    pmu_linux_remedy(error, 0, remedy, sizeof remedy);
    note(source, "cpu", pmu_linux_reason(error),
         "no hardware PMU can be used (%s), so there is no Topdown, no MPKI and no miss ratio; the kernel's software "
         "events are measured instead: %s",
         strerror(-error), remedy);
}

static int init_software(struct source *source, const struct specs *specs, struct errors *errors) {
    int r = choose_spec(source, specs, SOFTWARE, errors);
    if (r == 0)
        r = make_support(source, PLAN_SUPPORTED);
    if (r < 0)
        return r;
    source->pmu_name = source->catalog->product.pmu;
    source->microarchitecture = "unknown";
    if (host_linux_pmu_type(&source->roots, source->pmu_name, &source->pmu_type) < 0)
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

int source_init(struct source *source, const struct options *options, const char *data, const struct specs *specs,
                struct errors *errors) {
    *source = (struct source){.roots = {.sysfs = options->sysfs, .procfs = options->procfs}};
    if (options->pmu == PMU_SIM)
        return init_sim(source, options, data, specs, errors);
    if (options->pmu == PMU_REPLAY)
        return init_replay(source, options, specs, errors);
    host_linux_cpu(&source->roots, &source->cpu);
    find_candidates(source, specs);
    const struct catalog *catalog = choose_by_identity(source);
    return catalog ? init_hardware(source, catalog, errors) : init_software(source, specs, errors);
}

void source_deinit(struct source *source) {
    source->tape = tape_free(source->tape);
    free(source->support);
    source->support = NULL;
    source->scenario = scenario_free(source->scenario);
}

static void remove_cpus(struct cpuset *set, const struct cpuset *removed) {
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        set->words[w] &= ~removed->words[w];
}

static void keep_cpus(struct cpuset *set, const struct cpuset *kept) {
    for (size_t w = 0; w < CPUSET_MAX / 64; w++)
        set->words[w] &= kept->words[w];
}

// Cores of other kinds need a spec of their own. What is offline does not say what it is, and stays.
static void remove_other_cores(const struct source *source, struct cpuset *set) {
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        const struct catalog *catalog = cpuset_has(set, cpu) ? spec_of_cpu(source, cpu) : NULL;
        if (catalog && catalog != source->catalog)
            set->words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
    }
}

// The CPUs to measure: those that the PMU counts on (a host may have cores of several kinds), and of these the selected
// ones; where none are selected, all that nobody wants left alone.
static void choose_cpus(const struct source *source, const struct cpuset *selected, struct cpuset *out) {
    struct cpuset left_alone;
    if (host_linux_pmu_cpus(&source->roots, source->pmu_name, out) < 0)
        memset(out, 0xff, sizeof *out);
    host_linux_left_alone(&source->roots, &left_alone);
    if (selected)
        keep_cpus(out, selected);
    else
        remove_cpus(out, &left_alone);
}

int source_topology_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                           struct topology **out) {
    struct cpuset cpus;
    struct topology *candidate;
    if (source->scenario)
        return 0;
    choose_cpus(source, selected, &cpus);
    int r = host_linux_topology_update(&source->roots, &cpus, known, &candidate);
    if (r <= 0 || source->n_candidates == 0) {
        if (r > 0)
            *out = candidate;
        return r;
    }
    topology_free(candidate); // only now is it worth asking every CPU what core it is
    remove_other_cores(source, &cpus);
    return host_linux_topology_update(&source->roots, &cpus, known, out);
}

int source_topology(const struct source *source, const struct cpuset *selected, struct errors *errors,
                    struct topology **out) {
    struct cpuset cpus;
    if (source->tape) {
        *out = topology_copy(source->tape->topology);
        return *out ? 0 : -ENOMEM;
    }
    if (!source->scenario) {
        choose_cpus(source, selected, &cpus);
        if (source->n_candidates > 0)
            remove_other_cores(source, &cpus);
        return host_linux_topology(&source->roots, &cpus, errors, out);
    }
    int r = pmu_sim_topology(source->scenario, selected, out);
    return r == -EINVAL ? errors_add(errors, NULL, 0, 0, "the simulated host has none of the CPUs that `cpus` names")
                        : r;
}

void source_choose_guests(struct source *source, bool share) {
    if (source->tape)
        return; // as it was
    source->exclude_guest =
        !source->scenario && source_takes_counters(source) && !share && host_guests_possible(&source->roots);
}

int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    if (!source->scenario)
        return pmu_linux_new(&source->pmu_type, 1, source->exclude_guest, out);
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
        log_info("%s: event groups can be opened again", source->pmu_name);
    }
    source->open_error = error;
    if (error != 0) {
        char remedy[PMU_LINUX_REMEDY_MAX];
        pmu_linux_remedy(error, files, remedy, sizeof remedy);
        note(source, source->pmu_name, pmu_linux_reason(error), "%zu event groups could not be opened (%s): %s",
             n_failed, strerror(-error), remedy);
        log_warning("%s: %s", source->pmu_name, source->errors[source->n_errors - 1].text);
    }
    return true;
}

bool source_takes_counters(const struct source *source) {
    return source->scenario ? source->general_counters > 0 : strcmp(source->catalog->product.pmu, SOFTWARE) != 0;
}

unsigned source_fixed_counters(const struct source *source) {
    unsigned fixed = 0;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        fixed += source->catalog->events[e].fixed;
    return fixed;
}
