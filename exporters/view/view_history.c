// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_history.h"

#include <math.h>
#include <stdlib.h>

double view_history_seconds(const struct view_history *history, int64_t at_ns) {
    return history->wall_offset_ns == 0 ? NAN : ((double)at_ns + (double)history->wall_offset_ns) * 1e-9;
}

void view_history_deinit(struct view_history *history) {
    free(history->marks);
    free(history->values);
    free(history->series);
}
