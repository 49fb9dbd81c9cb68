// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/budget.h"

#include <math.h>

void budget_init(struct budget *budget, size_t n_cpus, double now_seconds, double cost_seconds) {
    *budget = (struct budget){.allowed = fmax(0.0001 * (double)n_cpus, 0.001),
                              .begun_seconds = now_seconds,
                              .cost_seconds = cost_seconds,
                              .used = NAN,
                              .factor = 1};
}

bool budget_update(struct budget *budget, double now_seconds, double cost_seconds) {
    double seconds = now_seconds - budget->begun_seconds, factor = budget->factor;
    if (seconds < BUDGET_PERIOD_SECONDS)
        return false;
    budget->used = (cost_seconds - budget->cost_seconds) / seconds / budget->allowed;
    budget->begun_seconds = now_seconds;
    budget->cost_seconds = cost_seconds;
    if (budget->used > 1)
        budget->factor = fmin(factor * BUDGET_STEP, BUDGET_FACTOR_MAX);
    else if (budget->used * BUDGET_STEP < 0.8) // shorter slots would use no more than 0.8
        budget->factor = fmax(factor / BUDGET_STEP, 1);
    return budget->factor != factor;
}
