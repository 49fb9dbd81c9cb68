// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_sockets.h"

#include "core/diagnosis/bound.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_circumstances.h"
#include "exporters/view/view_waits.h"

void view_sockets_answer(const struct shown *shown, const struct snapshot *snapshot, size_t socket, struct text *out) {
    size_t scope = snapshot_scope_socket(socket);
    const struct verdict *verdict = &snapshot->verdicts[scope].now;
    if (verdict->n == 0)
        text_string(out, "not known");
    else if (!verdict_high(verdict))
        text_string(out, "nothing stands out");
    else
        view_bound_share(snapshot, scope, verdict->path[verdict->n - 1], out);
    view_waits_words(shown, snapshot, verdict, scope, out);
}

void view_sockets_text(const struct shown *shown, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = snapshot->layout->topology;
    text_string(out, "The sockets differ:");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        text_format(out, "%s socket %u: ", s > 0 ? ";" : "", topology->sockets[s].id);
        view_sockets_answer(shown, snapshot, s, out);
    }
    text_string(out, ".");
}

bool view_sockets_verdict(const struct shown *shown, const struct shown_type *type, struct text *out) {
    const struct snapshot *snapshot = type->snapshot;
    struct verdict verdict = view_waits_settle(shown, snapshot, &snapshot->verdicts[0].now, 0);
    bool differ = bound_sockets_differ(snapshot) && !snapshot->circumstances.rest_is_fine; // else outliers make it
    view_circumstances_before(snapshot, out);
    view_bound_text(type->view, &verdict, snapshot, 0, out);
    if (differ) {
        text_string(out, " ");
        view_sockets_text(shown, snapshot, out);
    } else {
        view_waits_text(shown, snapshot, &verdict, 0, out);
    }
    view_circumstances_after(snapshot, out);
    return differ;
}
