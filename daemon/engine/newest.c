// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/newest.h"

void newest_put(struct newest *newest, size_t i, struct view *view, struct snapshot *snapshot) {
    struct shown_type *type = &newest->shown.types[i];
    size_t n = 0;
    struct view *old_view = type->view;
    struct snapshot *old = newest->held[i];
    newest->held[i] = snapshot_ref(snapshot);
    *type = (struct shown_type){view_ref(view), snapshot};
    view_unref(old_view); // last: they may be the same
    snapshot_unref(old);
    while (n < SHOWN_TYPES_MAX && newest->held[n])
        n++;
    shown_count(&newest->shown, n);
}

void newest_deinit(struct newest *newest) {
    for (size_t i = 0; i < SHOWN_TYPES_MAX; i++) {
        newest->held[i] = snapshot_unref(newest->held[i]);
        newest->shown.types[i].view = view_unref(newest->shown.types[i].view);
    }
    newest->shown = (struct shown){.n = 0};
}
