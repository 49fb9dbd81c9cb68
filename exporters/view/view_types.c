// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_types.h"

#include <string.h>

#include "exporters/view/view_bound.h"
#include "exporters/view/view_waits.h"

// What a type is bound by.
struct answer {
    const struct catalog_metric *metric; // the last node of its path; NULL: nothing is high, or nothing is known
    bool known;
    double share;
};

// What the memory of all types moves is told by the first one that waits for it.
static struct answer find_answer(const struct shown *shown, size_t i, struct text *memory) {
    const struct shown_type *type = &shown->types[i];
    const struct verdict *verdict = &type->snapshot->verdicts[0].now;
    struct answer answer = {.known = verdict->n > 0};
    if (verdict_high(verdict)) {
        unsigned last = verdict->path[verdict->n - 1];
        answer.metric = &type->view->layout->catalog->metrics[last];
        answer.share = view_bound_value(type->snapshot, 0, last);
    }
    if (memory->length == 0)
        view_waits_text(shown, type->snapshot, verdict, 0, memory);
    return answer;
}

static bool same(const struct answer *a, const struct answer *b) {
    return a->known && b->known && !a->metric == !b->metric &&
           (!a->metric || strcmp(view_title(a->metric), view_title(b->metric)) == 0);
}

static void put_answer(const struct answer *answer, bool share, struct text *out) {
    if (!answer->metric)
        text_string(out, answer->known ? "nothing stands out" : "not known");
    else if (share)
        text_format(out, "%s, %.3g %% of %s", view_title(answer->metric), 100 * answer->share,
                    view_whole(answer->metric));
    else
        text_string(out, view_title(answer->metric));
}

static void put_answers(const struct shown *shown, const struct answer answers[SHOWN_TYPES_MAX], struct text *out) {
    bool all_same = true;
    for (size_t i = 0; i < shown->n; i++)
        all_same = all_same && same(&answers[i], &answers[0]);
    if (all_same) {
        text_string(out, "All core types: ");
        put_answer(&answers[0], false, out);
        for (size_t i = 0; answers[0].metric && i < shown->n; i++)
            text_format(out, "%s%s %.3g %%", i > 0 ? ", " : " (", shown->types[i].view->core_type,
                        100 * answers[i].share);
        text_string(out, answers[0].metric ? ")." : ".");
        return;
    }
    for (size_t i = 0; i < shown->n; i++) {
        text_format(out, "%s%s: ", i > 0 ? "; " : "", shown->types[i].view->core_type);
        put_answer(&answers[i], true, out);
    }
    text_string(out, ".");
}

void view_types_text(const struct shown *shown, struct text *out) {
    struct answer answers[SHOWN_TYPES_MAX];
    struct text memory = {0};
    for (size_t i = 0; i < shown->n; i++)
        answers[i] = find_answer(shown, i, &memory);
    put_answers(shown, answers, out);
    text_append(out, memory.data, memory.length);
    out->failed = out->failed || memory.failed;
    text_free(&memory);
}
