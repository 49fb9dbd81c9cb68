// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_kept.h"

#include <string.h>

static const char *type_of(const struct measure *m) { return m->type->source->core_type; }

// The engine has not measured so long that it knows better: what was kept is kept on.
static void keep_kept(const struct measure *m, struct kept_verdicts *out) {
    for (size_t i = 0; i < m->kept->n && out->n < KEPT_VERDICTS_MAX; i++)
        if (strcmp(m->kept->all[i].type, type_of(m)) == 0)
            out->all[out->n++] = m->kept->all[i];
}

void measure_keep(const struct measure *m, struct kept_verdicts *out) {
    if (m->type->topology->boxes)
        return; // they are not what a host is bound by
    if (m->kept)
        keep_kept(m, out);
    else if (m->stage.diagnosis)
        diagnosis_keep(m->stage.diagnosis, type_of(m), out);
}

void measure_restore(struct measure *m, const struct kept_verdicts *kept) {
    m->kept = m->type->topology->boxes ? NULL : kept;
}

void measure_go_on_with_kept(struct measure *m, const struct snapshot *snapshot) {
    if (m->kept)
        diagnosis_restore(m->stage.diagnosis, type_of(m), m->kept, snapshot);
    m->kept = NULL;
}
