// SPDX-License-Identifier: Apache-2.0
#include "core/compare/difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/student.h"

static const double FALSE_FINDINGS = 0.05;

const char *difference_verdict_name(enum difference_verdict verdict) {
    static const char *const names[DIFFERENCE_VERDICTS] = {[DIFFERENCE_OTHER_DEFINITION] = "defined differently",
                                                           [DIFFERENCE_TOO_SHORT] = "too short",
                                                           [DIFFERENCE_NOT_TOLD_APART] = "not told apart",
                                                           [DIFFERENCE_CHANGED] = "changed",
                                                           [DIFFERENCE_BETTER] = "better",
                                                           [DIFFERENCE_WORSE] = "worse"};
    return names[verdict];
}

// ---- a stretch's value ----

struct mean {
    double value, variance; // of the value
    size_t n;               // batches that have data
};

static struct mean mean_of(const struct stretch *stretch, const struct stretch_series *series) {
    double a = 0, b = 0, squares = 0;
    struct mean mean = {.value = NAN, .variance = NAN};
    for (size_t i = 0; i < stretch->n_batches; i++) {
        a += series->batches[i].a;
        b += series->batches[i].b;
        mean.n += series->batches[i].b > 0;
    }
    if (!(b > 0))
        return mean;
    for (size_t i = 0; i < stretch->n_batches; i++) {
        double residual = series->batches[i].a - a / b * series->batches[i].b;
        squares += series->batches[i].b > 0 ? residual * residual : 0;
    }
    double n = (double)mean.n;
    mean.value = series->k * a / b;
    mean.variance = n > 1 ? series->k * series->k * n / (n - 1) * squares / (b * b) : NAN;
    return mean;
}

// ---- differences ----

static void compare(const struct stretch *before, const struct stretch *after, struct difference *out) {
    struct mean means[2] = {mean_of(before, out->before), mean_of(after, out->after)};
    double variance = means[0].variance + means[1].variance, change = means[1].value - means[0].value;
    out->value_before = means[0].value;
    out->value_after = means[1].value;
    out->low = out->high = out->p = NAN;
    out->verdict = DIFFERENCE_OTHER_DEFINITION;
    if (strcmp(out->before->definition, out->after->definition) != 0)
        return;
    out->verdict = DIFFERENCE_TOO_SHORT;
    if (means[0].n < DIFFERENCE_BATCHES_MIN || means[1].n < DIFFERENCE_BATCHES_MIN)
        return;
    out->verdict = DIFFERENCE_NOT_TOLD_APART;
    // what does not vary at all is a constant: it differs or it does not
    if (!(variance > 1e-24 * means[0].value * means[0].value)) {
        out->low = out->high = change;
        out->p = fabs(change) > 1e-9 * fabs(means[0].value) ? 0 : 1;
        return;
    }
    double parts = 0;
    for (int i = 0; i < 2; i++)
        parts += means[i].variance * means[i].variance / (double)(means[i].n - 1);
    double degrees = variance * variance / parts, error = sqrt(variance);
    out->low = change - student_95(degrees) * error;
    out->high = change + student_95(degrees) * error;
    out->p = student_tails(change / error, degrees);
}

static int by_p(const void *a, const void *b) {
    double p = (*(struct difference *const *)a)->p, q = (*(struct difference *const *)b)->p;
    return (p > q) - (p < q);
}

static enum difference_verdict judge(const struct difference *difference) {
    bool higher = difference->value_after > difference->value_before;
    switch (difference->before->better) {
    case STRETCH_HIGHER_IS_BETTER:
        return higher ? DIFFERENCE_BETTER : DIFFERENCE_WORSE;
    case STRETCH_LOWER_IS_BETTER:
        return higher ? DIFFERENCE_WORSE : DIFFERENCE_BETTER;
    default:
        return DIFFERENCE_CHANGED;
    }
}

// Holm: the smallest p counts m times, the next m - 1 times, and so on until the first that is too large.
static int tell_apart(struct difference *all, size_t n) {
    struct difference **order = calloc(n > 0 ? n : 1, sizeof(struct difference *));
    size_t m = 0;
    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (all[i].verdict == DIFFERENCE_NOT_TOLD_APART)
            order[m++] = &all[i];
    qsort(order, m, sizeof *order, by_p);
    for (size_t i = 0; i < m && order[i]->p * (double)(m - i) <= FALSE_FINDINGS; i++)
        order[i]->verdict = judge(order[i]);
    free(order);
    return 0;
}

int difference_find(const struct stretch *before, const struct stretch *after, struct difference **out, size_t *n) {
    struct difference *all = calloc(before->n > 0 ? before->n : 1, sizeof *all);
    *n = 0;
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < before->n; i++) {
        struct difference *difference = &all[*n];
        *difference =
            (struct difference){.before = &before->series[i], .after = stretch_find(after, &before->series[i])};
        if (!difference->after)
            continue;
        compare(before, after, difference);
        ++*n;
    }
    int r = tell_apart(all, *n);
    if (r < 0)
        free(all);
    else
        *out = all;
    return r;
}

bool difference_is_regression(const struct difference *difference) {
    return difference->verdict == DIFFERENCE_WORSE && difference->before->outcome;
}
