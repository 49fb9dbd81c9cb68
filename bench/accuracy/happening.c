// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "bench/accuracy/trial_state.h"

// What happens on a CPU under a load, and what metrics are of it.

static const double TICK = 1.0 / LOAD_TICKS_A_SECOND;

static double rate(const struct trial *t, unsigned mix, unsigned event) { return t->rates[mix * t->n_events + event]; }

double trial_count(const struct trial *t, const struct load_kind *kind, unsigned event, double on, double off) {
    return rate(t, kind->on, event) * on + rate(t, kind->off, event) * off;
}

double trial_noise(struct trial *t, const struct load_kind *kind, unsigned event, double on, double off) {
    double a = rate(t, kind->on, event), b = rate(t, kind->off, event);
    return kind->noise * sqrt(fmax(a * a * on + b * b * off, 0)) * load_normal(&t->state);
}

void trial_running(const struct load *load, double from, double to, double *on, double *off) {
    *on = *off = 0;
    for (double begin = from; begin < to;) {
        double end = to;
        if (load->kind->contended)
            end = fmin(to, (floor(begin / TICK + 1e-9) + 1) * TICK);
        if (load_tick_ours(load, (uint64_t)(begin / TICK + 1e-9))) {
            double part = load_on(load, end) - load_on(load, begin);
            *on += part;
            *off += end - begin - part;
        }
        begin = end;
    }
}

bool trial_is_field(const struct plan *plan, unsigned event) {
    return plan->catalog->events[event].topdown && plan->needs[event].free;
}

double trial_round_field(double count, double slots) {
    return slots > 0 ? nearbyint(count / slots * ESTIMATE_FIELD_STEPS) / ESTIMATE_FIELD_STEPS * slots : count;
}

void trial_round_fields(const struct trial *t, const unsigned *events, size_t n, double *counts) {
    const struct catalog *catalog = t->plan->catalog;
    double slots = 0;
    for (size_t i = 0; i < n; i++)
        if (catalog->n_topdown > 0 && events[i] == catalog->topdown[0])
            slots = counts[i];
    for (size_t i = 0; i < n; i++)
        if (trial_is_field(t->plan, events[i]))
            counts[i] = trial_round_field(counts[i], slots);
}

void trial_evaluate(struct trial *t, const double *sums, double *out) {
    for (size_t i = 0; i < t->plan->n_metrics; i++) {
        unsigned m = t->plan->evaluation[i];
        const struct plan_metric *metric = &t->plan->metrics[m];
        out[m] = NAN;
        if (metric->unit == PLAN_NOT_PLANNABLE)
            continue;
        if (metric->unit >= 0) {
            const double *values = sums + rows_first(t->rows, (size_t)metric->unit);
            operands_fill(t->at, (size_t)metric->unit, values, 1);
            if (!(values[0] > 0))
                continue;
        }
        const struct catalog_metric *of = &t->plan->catalog->metrics[metric->metric];
        t->at->metrics[metric->metric] = formula_evaluate_known(of->formula, t->at->counts, t->at->metrics);
        out[m] = t->at->metrics[metric->metric] * of->export_scale;
    }
}
