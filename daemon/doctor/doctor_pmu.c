// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectors/pmu/pmu_linux.h"
#include "collectors/pmu/probe.h"
#include "daemon/base/clocks.h"
#include "daemon/doctor/doctor_parts.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000), PATIENCE_NS = UINT64_C(10000000000);

// ---- the CPU ----

static void check_cpu(const struct core_type *type, struct findings *findings) {
    const struct source *source = type->source;
    const struct topology *topology = type->topology;
    findings_add(findings, FINDING_OK, "cpu", "%s%s, %zu CPU%s in %zu core%s on %zu socket%s%s", source->prefix,
                 source->cpu.model, topology->n_cpus, topology->n_cpus == 1 ? "" : "s", topology->n_cores,
                 topology->n_cores == 1 ? "" : "s", topology->n_sockets, topology->n_sockets == 1 ? "" : "s",
                 source->simulated ? " (SIMULATED)" : "");
}

static void say_no_hardware(const struct source *source, struct findings *findings) {
    char remedy[PMU_LINUX_REMEDY_MAX];
    int error = source->troubles.no_hardware;
    findings_add(findings, FINDING_WARNING, "pmu",
                 "%sthere are no hardware counters%s%s%s: topdownd measures only the kernel's software events",
                 source->prefix, error < 0 ? " (" : "", error < 0 ? strerror(-error) : "", error < 0 ? ")" : "");
    pmu_linux_remedy(error, 0, remedy, sizeof remedy);
    if (error < 0)
        findings_remedy(findings, "%s", remedy);
}

static void check_spec(const struct core_type *type, struct findings *findings) {
    const struct source *source = type->source;
    const char *spec = source->catalog->product.spec;
    bool exact = source->own_spec || source->vendors;
    if (!source->takes_counters) {
        say_no_hardware(source, findings);
        return;
    }
    findings_add(findings, exact || source->simulated ? FINDING_OK : FINDING_WARNING, "spec", "%s%s%s", source->prefix,
                 spec,
                 exact || source->simulated ? "" : ": not for exactly this CPU, so it has the events of its kind");
    if (!exact && !source->simulated)
        findings_remedy(findings, "name the vendor's files for this CPU, if there are any, as specs: {path: DIR} "
                                  "(docs/specs.md)");
}

// ---- the counters ----

// Runs a probe to its end. Returns the number of general counters, or a negative errno; -ETIME: no answer came.
static int count_counters(const struct core_type *type, struct pmu *pmu) {
    const struct source *source = type->source;
    bool *usable = calloc(source->catalog->n_events, sizeof *usable);
    struct probe *probe = NULL;
    uint64_t deadline_ns, end_ns = clocks_now_ns() + PATIENCE_NS;
    if (!usable)
        return -ENOMEM;
    source_choose_probe_events(source, usable);
    int r = probe_new(source->catalog, usable, type->topology, pmu, &probe);
    while (r == 0) {
        uint64_t now_ns = clocks_now_ns();
        r = probe_step(probe, now_ns, &deadline_ns) > 0 ? 1 : now_ns > end_ns ? -ETIME : 0;
        uint64_t wait_ns = deadline_ns > now_ns && deadline_ns - now_ns < SECOND_NS ? deadline_ns - now_ns : 0;
        const struct timespec pause = {.tv_nsec = (long)wait_ns};
        if (r == 0)
            (void)nanosleep(&pause, NULL);
    }
    if (r == 1)
        r = probe_error(probe) < 0 ? probe_error(probe) : (int)probe_counters(probe);
    probe_free(probe);
    free(usable);
    return r;
}

static void say_counters(const struct source *source, int counters, struct findings *findings) {
    char remedy[PMU_LINUX_REMEDY_MAX];
    unsigned stated = source->general_counters;
    if (counters == -ETIME || counters == -ENOMEM) {
        findings_add(findings, FINDING_NOT_CHECKED, "counters", "%sthe counters did not answer within 10 s: %s",
                     source->prefix, strerror(-counters));
    } else if (counters < 0) {
        pmu_linux_remedy(counters, 0, remedy, sizeof remedy);
        findings_add(findings, FINDING_FAILURE, "counters", "%sthe kernel refuses to count: %s", source->prefix,
                     strerror(-counters));
        findings_remedy(findings, "%s", remedy);
    } else if (counters == 0) {
        findings_add(findings, FINDING_FAILURE, "counters", "%sall %u general counters of each CPU are taken",
                     source->prefix, stated);
        findings_remedy(findings, "end the programs that count (see counting below), or wait: topdownd measures as "
                                  "soon as counters are free");
    } else if ((unsigned)counters < stated) {
        findings_add(findings, FINDING_WARNING, "counters", "%s%d of %u general counters are free on most CPUs",
                     source->prefix, counters, stated);
        findings_remedy(findings, "somebody else has the others (the NMI watchdog or a program below, a hypervisor, "
                                  "firmware): topdownd plans with what is left, and rounds get longer");
    } else {
        findings_add(findings, FINDING_OK, "counters", "%s%d general and %u fixed counters are free on each CPU",
                     source->prefix, counters, source_fixed_counters(source));
    }
}

static void check_counters(const struct core_type *type, pid_t daemon, struct findings *findings) {
    const struct source *source = type->source;
    struct errors errors = {0};
    struct pmu *pmu;
    if (!source->takes_counters)
        return;
    if (daemon > 0) {
        findings_add(findings, FINDING_NOT_CHECKED, "counters",
                     "%stopdownd is running (process %ld) and has them; /api/v1/plan says how many there are",
                     source->prefix, (long)daemon);
        return;
    }
    int r = source_pmu(source, clocks_now_ns(), &errors, &pmu);
    if (r < 0) {
        findings_add(findings, FINDING_FAILURE, "counters", "%s%s", source->prefix,
                     errors.n > 0 ? errors.items[0].text : strerror(-r));
        return;
    }
    say_counters(source, count_counters(type, pmu), findings);
    pmu->ops->free(pmu);
}

static void check_metrics(const struct setup *setup, const struct core_type *type, struct findings *findings) {
    const struct source *source = type->source;
    struct errors errors = {0};
    struct plan *plan;
    size_t planned = 0, all = 0;
    if (setup_plan_stated(setup, type, &errors, &plan) < 0)
        return; // the check of the configuration says why
    for (size_t m = 0; m < plan->n_metrics; m++) {
        planned += plan_metric_planned(&plan->metrics[m]) && !plan->metrics[m].auxiliary;
        all += !plan->metrics[m].auxiliary;
    }
    findings_add(findings, planned == all ? FINDING_OK : FINDING_WARNING, "metrics",
                 "%s%zu of %zu metrics of profile %s fit, in rounds of %.1f s", source->prefix, planned, all,
                 setup_profile_name(setup), (double)plan->round_ns * 1e-9);
    if (planned < all)
        findings_remedy(findings, "'topdownd check-config' names the others, each with the reason");
    plan_free(plan);
}

void doctor_check_type(const struct setup *setup, const struct core_type *type, pid_t daemon,
                       struct findings *findings) {
    const struct source *source = type->source;
    check_cpu(type, findings);
    check_spec(type, findings);
    if (source->watchdog_on) {
        findings_add(findings, FINDING_WARNING, "nmi_watchdog",
                     "%sthe kernel's NMI watchdog is on and may hold a "
                     "counter of every CPU",
                     source->prefix);
        findings_remedy(findings,
                        "leave it if lockups must be found; 'sysctl kernel.nmi_watchdog=0' frees the counter");
    }
    if (source->exclude_guest)
        findings_add(findings, FINDING_OK, "guests", "%sguests of KVM may run here: what they do is not counted",
                     source->prefix);
    check_counters(type, daemon, findings);
    check_metrics(setup, type, findings);
}
