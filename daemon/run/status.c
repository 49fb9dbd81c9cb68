// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/status.h"

#include <stdio.h>

bool status_take(struct status *status, size_t type, const struct view *view, const struct snapshot *snapshot,
                 uint64_t now_us) {
    bool first = status->parts[type][0] == '\0';
    summary_status(view, snapshot, status->parts[type], sizeof status->parts[type]);
    if (!first && now_us < status->due_us)
        return false;
    status->due_us = now_us + STATUS_US;
    return true;
}

void status_line(const struct status *status, char *out, size_t size) {
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < status->n_types && length < size; i++)
        if (status->parts[i][0] != '\0')
            length += (size_t)snprintf(out + length, size - length, "%s%s", length > 0 ? "; " : "", status->parts[i]);
}
