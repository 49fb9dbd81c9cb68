// SPDX-License-Identifier: Apache-2.0
#include "core/counts/carries.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

double carry_take(struct carry *carry, double amount) {
    double sum = carry->owed + amount;
    carry->largest = fmax(fabs(amount), carry->largest * (1 - 1.0 / CARRY_MEMORY));
    carry->owed = fmax(fmin(sum, 0), -CARRY_DEBT_MAX * carry->largest);
    return fmax(sum, 0);
}

static void lay_out(void *self, struct block *block) {
    struct carries *carries = self;
    carries->place = block_take(block, carries->n_metrics, sizeof *carries->place);
    carries->carries = block_take(block, carries->n_cpus * carries->n * CARRY_PARTS, sizeof *carries->carries);
}

static bool has_difference(const struct plan *plan, size_t metric) {
    const struct formula *formula = plan->catalog->metrics[plan->metrics[metric].metric].formula;
    return formula->is_ratio && formula->has_difference;
}

struct carries *carries_new(const struct plan *plan, size_t n_cpus) {
    struct carries sizes = {.n_cpus = n_cpus, .n_metrics = plan->n_metrics};
    for (size_t m = 0; m < plan->n_metrics; m++)
        sizes.n += has_difference(plan, m);
    struct carries *made = block_new(&sizes, sizeof sizes, lay_out);
    int place = 0;
    for (size_t m = 0; made && m < plan->n_metrics; m++)
        made->place[m] = has_difference(plan, m) ? place++ : -1;
    return made;
}

struct carries *carries_free(struct carries *carries) {
    free(carries);
    return NULL;
}

static struct carry *of_cpu(const struct carries *carries, size_t cpu) {
    return &carries->carries[cpu * carries->n * CARRY_PARTS];
}

void carries_continue(struct carries *carries, size_t cpu, const struct carries *old, size_t old_cpu,
                      const int *match) {
    for (size_t m = 0; m < carries->n_metrics; m++) {
        int place = carries->place[m], old_place = match[m] >= 0 ? old->place[match[m]] : -1;
        if (place >= 0 && old_place >= 0)
            memcpy(of_cpu(carries, cpu) + (size_t)place * CARRY_PARTS,
                   of_cpu(old, old_cpu) + (size_t)old_place * CARRY_PARTS, CARRY_PARTS * sizeof *carries->carries);
    }
}

double carries_take(struct carries *carries, size_t cpu, size_t metric, enum carry_part part, double amount) {
    int place = carries->place[metric];
    return place < 0 ? amount : carry_take(&of_cpu(carries, cpu)[(size_t)place * CARRY_PARTS + part], amount);
}
