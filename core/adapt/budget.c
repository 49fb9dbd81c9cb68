// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/budget.h"

#include <math.h>

double budget_allowed(size_t n_cpus) { return fmax(0.0001 * (double)n_cpus, 0.001); }

void budget_init(struct budget *budget, size_t n_cpus, double now_seconds, struct budget_cost cost) {
    *budget = (struct budget){.allowed = budget_allowed(n_cpus),
                              .begun_seconds = now_seconds,
                              .begun = cost,
                              .used = NAN,
                              .rotation = BUDGET_ROTATION,
                              .factor = 1};
}

double budget_debt(const struct budget *budget, double now_seconds, struct budget_cost cost) {
    double paid = fmax(1 - budget->rotation, 0) * budget->allowed * (now_seconds - budget->begun_seconds);
    return fmax(budget->debt_seconds + cost.change_seconds - budget->begun.change_seconds - paid, 0);
}

bool budget_update(struct budget *budget, double now_seconds, struct budget_cost cost) {
    double seconds = now_seconds - budget->begun_seconds, factor = budget->factor;
    if (seconds < BUDGET_PERIOD_SECONDS)
        return false;
    double change = (cost.change_seconds - budget->begun.change_seconds) / seconds / budget->allowed;
    budget->rotation = (cost.rotation_seconds - budget->begun.rotation_seconds) / seconds / budget->allowed;
    budget->used = budget->rotation + change;
    budget->debt_seconds = budget_debt(budget, now_seconds, cost);
    budget->begun_seconds = now_seconds;
    budget->begun = cost;
    if (budget->rotation > BUDGET_ROTATION)
        budget->factor = fmin(factor * BUDGET_STEP, BUDGET_FACTOR_MAX);
    else if (budget->debt_seconds == 0 &&
             budget->rotation * BUDGET_STEP < 0.8) // shorter slots would use no more than 0.8
        budget->factor = fmax(factor / BUDGET_STEP, 1);
    return budget->factor != factor;
}

void budget_boxes_init(struct budget_boxes *boxes, double now_seconds) {
    *boxes = (struct budget_boxes){.factor = 1, .used = NAN, .begun_seconds = now_seconds};
}

bool budget_boxes_update(struct budget_boxes *boxes, const struct budget *budget, double now_seconds, double cost,
                         size_t n_kinds) {
    double seconds = now_seconds - boxes->begun_seconds, factor = boxes->factor;
    double share = BUDGET_BOXES / (double)n_kinds;
    if (seconds < BUDGET_PERIOD_SECONDS)
        return false;
    boxes->used = (cost - boxes->begun_cost) / seconds / budget->allowed;
    boxes->begun_seconds = now_seconds;
    boxes->begun_cost = cost;
    if (boxes->used > share)
        boxes->factor = fmin(factor * BUDGET_BOXES_STEP, BUDGET_BOXES_FACTOR_MAX);
    else if (boxes->used * BUDGET_BOXES_STEP < 0.8 * share)
        boxes->factor = fmax(factor / BUDGET_BOXES_STEP, 1);
    return boxes->factor != factor;
}
