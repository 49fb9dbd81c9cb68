// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_fetched.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/plan/plan_fetch.h"
#include "daemon/base/log.h"

enum { FILES_KEPT_FREE = 256 }; // for connections, the configuration, and what other core types open meanwhile
enum { NAMED_MAX = 6 };         // metrics in a line of the log

static size_t events_fetched(const struct plan *plan) {
    size_t n = 0;
    for (size_t g = 0; g < plan->n_groups; g++)
        n += plan_unit_fetched(plan, plan->groups[g].unit) ? plan->groups[g].n_events : 0;
    return n;
}

size_t measure_fetched_files(const struct measure *m) {
    const struct status_process *process = &m->self->status.process;
    if (!m->stage.layout || m->type->source->simulated || isnan(process->max_fds) || isnan(process->open_fds))
        return SIZE_MAX;
    double held = (double)(events_fetched(m->stage.layout->plan) * m->type->topology->n_cpus),
           left = process->max_fds - process->open_fds + held - FILES_KEPT_FREE;
    return left > 0 ? (size_t)left : 0;
}

// ---- what the log says ----

// Metrics of a catalog, as a line of the log names them.
struct named {
    struct text text;
    size_t n;
};

static void name_metric(struct named *named, const struct catalog *catalog, unsigned metric) {
    if (named->n++ < NAMED_MAX)
        text_format(&named->text, "%s%s", named->n > 1 ? ", " : "", catalog->metrics[metric].export_name);
}

static const char *end_names(struct named *named) {
    if (named->n > NAMED_MAX)
        text_format(&named->text, " and %zu more", named->n - NAMED_MAX);
    text_append(&named->text, "", 1);
    return named->text.failed ? "" : named->text.data;
}

static bool is_fetched(const struct plan *plan, unsigned metric) {
    int place = plan->place[metric];
    return place >= 0 && plan->metrics[place].fetched && !plan->metrics[place].auxiliary;
}

// Metrics that `with` fetches and `without` does not.
static struct named name_difference(const struct plan *with, const struct plan *without) {
    struct named named = {.n = 0};
    for (unsigned m = 0; m < with->catalog->n_metrics; m++)
        if (is_fetched(with, m) && !is_fetched(without, m) && catalog_metric_named(with->catalog, m) == m)
            name_metric(&named, with->catalog, m);
    return named;
}

static struct named name_refused(const struct evidence *evidence, const struct plan *plan) {
    struct named named = {.n = 0};
    size_t n;
    const struct plan_fetched *wanted = evidence_wanted(evidence, &n);
    for (size_t i = 0; i < n; i++)
        if (plan->place[wanted[i].metric] < 0 && evidence_asks(evidence, wanted[i].metric))
            name_metric(&named, plan->catalog, wanted[i].metric);
    return named;
}

static size_t groups_fetched(const struct plan *plan) {
    size_t n = 0;
    for (size_t g = 0; g < plan->n_groups; g++)
        n += plan_unit_fetched(plan, plan->groups[g].unit);
    return n;
}

static void log_refused(struct measure *m, const struct plan *plan) {
    struct named refused = name_refused(m->evidence, plan);
    const char *names = end_names(&refused);
    size_t files = measure_fetched_files(m);
    char opened[96] = "";
    if (files < SIZE_MAX)
        (void)snprintf(opened, sizeof opened,
                       ", and files for %zu more events on each CPU may be opened (LimitNOFILE=)",
                       files / m->type->topology->n_cpus);
    if (refused.n > 0 && refused.n != m->n_refused)
        log_info(
            "%sthere is no room for %zu more metric%s that the verdict asks for (%s): a round may have %d times its "
            "usual slots and take 15 s%s. A profile that names their metric groups always measures them",
            m->type->source->prefix, refused.n, refused.n == 1 ? "" : "s", names, PLAN_FETCHED_GROWTH_MAX, opened);
    m->n_refused = refused.n;
    text_free(&refused.text);
}

void measure_log_fetched(struct measure *m, const struct plan *before) {
    const struct plan *plan = m->stage.layout->plan;
    if (!m->evidence || before->catalog != plan->catalog)
        return;
    struct named more = name_difference(plan, before), less = name_difference(before, plan);
    const char *names = end_names(&more), *gone = end_names(&less);
    size_t groups = groups_fetched(plan);
    if (more.n > 0)
        log_info("%smeasures %zu more metric%s, because the verdict asks for them (%s): %zu more event group%s, and a "
                 "round takes %.3g s",
                 m->type->source->prefix, more.n, more.n == 1 ? "" : "s", names, groups, groups == 1 ? "" : "s",
                 (double)plan->round_ns * 1e-9);
    if (less.n > 0)
        log_info("%sno longer measures %zu metric%s that no verdict has asked for lately (%s)", m->type->source->prefix,
                 less.n, less.n == 1 ? "" : "s", gone);
    text_free(&more.text);
    text_free(&less.text);
    log_refused(m, plan);
}
