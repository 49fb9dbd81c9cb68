// SPDX-License-Identifier: Apache-2.0
#include "daemon/source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collectors/pmu_linux.h"
#include "collectors/pmu_sim.h"
#include "config/scenario_json.h"

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

static int init_sim(struct source *source, const struct options *options, const char *data, const struct specs *specs,
                    struct errors *errors) {
    char path[DATA_PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/scenarios/demo.json", data);
    int r = scenario_json_load(options->scenario ? options->scenario : path, errors, &source->scenario);
    if (r == 0)
        r = choose_spec(source, specs, source->scenario->spec, errors);
    if (r < 0)
        return r;
    source->pmu_name = "simulated";
    source->microarchitecture = source->catalog->product.microarchitecture;
    source->general_counters = source->scenario->general_counters;
    (void)snprintf(source->cpu.vendor, HOST_NAME_MAX, "%s", source->catalog->product.vendor);
    (void)snprintf(source->cpu.model, HOST_NAME_MAX, "%s", source->catalog->product.name);
    return 0;
}

static int init_linux(struct source *source, const struct specs *specs, struct errors *errors) {
    int r = choose_spec(source, specs, SOFTWARE, errors);
    if (r < 0)
        return r;
    source->pmu_name = source->catalog->product.pmu;
    source->microarchitecture = "unknown";
    source->general_counters = source->catalog->general_counters;
    host_linux_cpu(&source->roots, &source->cpu);
    int hardware = pmu_linux_probe_hardware();
    if (hardware == 0)
        note(source, "cpu", "unsupported",
             "this host has a hardware PMU, and this version has no spec for it yet: only the kernel's software events "
             "are measured");
    else
        note(source, "cpu", pmu_linux_reason(hardware),
             "no hardware PMU can be used (%s), so there is no Topdown, no MPKI and no miss ratio; the kernel's "
             "software "
             "events are measured instead. %s%s",
             strerror(-hardware),
             hardware == -ENOENT ? "Most virtual machines hide the PMU: " : "To mend it: ", pmu_linux_remedy(hardware));
    return 0;
}

int source_init(struct source *source, const struct options *options, const char *data, const struct specs *specs,
                struct errors *errors) {
    *source = (struct source){.roots = {.sysfs = options->sysfs, .procfs = options->procfs}};
    return options->pmu == PMU_SIM ? init_sim(source, options, data, specs, errors) : init_linux(source, specs, errors);
}

void source_deinit(struct source *source) { source->scenario = scenario_free(source->scenario); }

int source_topology(const struct source *source, const struct cpuset *selected, struct errors *errors,
                    struct topology **out) {
    if (!source->scenario)
        return host_linux_topology(&source->roots, selected, errors, out);
    int r = pmu_sim_topology(source->scenario, selected, out);
    return r == -EINVAL ? errors_add(errors, NULL, 0, 0, "the simulated host has none of the CPUs that `cpus` names")
                        : r;
}

int source_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    if (source->scenario) {
        const char *unknown = NULL;
        int r = pmu_sim_new(source->scenario, source->catalog, now_ns, &unknown, out);
        return r == -EINVAL ? errors_add(errors, source->scenario->name, 0, 0,
                                         "the event %.80s has no such rate, or spec %s does not have it",
                                         unknown ? unknown : "?", source->catalog->product.spec)
                            : r;
    }
    uint32_t type;
    if (host_linux_pmu_type(&source->roots, source->pmu_name, &type) < 0)
        return errors_add(errors, NULL, 0, 0,
                          "%s/bus/event_source/devices/%s/type cannot be read: mount sysfs, say where it is with "
                          "--path.sysfs, or use a kernel with perf events",
                          source->roots.sysfs, source->pmu_name);
    return pmu_linux_new(type, out);
}

void source_note_open_error(struct source *source, int error, size_t n_failed) {
    note(source, source->pmu_name, pmu_linux_reason(error), "%zu event groups could not be opened (%s): %s", n_failed,
         strerror(-error), pmu_linux_remedy(error));
}

unsigned source_counters(const struct source *source) {
    unsigned fixed = 0;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        fixed += source->catalog->events[e].fixed;
    return source->general_counters == 0 ? 0 : source->general_counters + fixed;
}
