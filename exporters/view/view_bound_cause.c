// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

static const struct {
    const char *name, *text, *advice;
} CAUSES[CAUSE_N] = {
    [CAUSE_METRIC] = {.name = "metric"},
    [CAUSE_SECOND_LEVEL] = {"second_level_cache", "data that the second-level cache has",
                            "Make the hot data fit the first level: smaller types, blocks, fewer streams at once."},
    [CAUSE_LAST_LEVEL] = {"last_level_cache", "data that the second-level cache lacks and the last level has",
                          "Make the hot data fit the second level: blocks, smaller types, data of one use together."},
    [CAUSE_MEMORY] = {"memory", "data that no cache has",
                      "Make the working set smaller, lay data out in the order of use, prefetch what is known early."},
    [CAUSE_TRANSLATION] = {"translation", "page walks",
                           "Turn on huge pages for the data, or keep data of one use on the same pages."},
    [CAUSE_EXECUTION] = {"execution", NULL,
                         "Look for long chains of dependent operations, and for slow ones such as divisions and square "
                         "roots."},
    [CAUSE_OPEN] = {.name = "open"},
};

const char *view_bound_cause_name(enum verdict_cause_kind kind) { return CAUSES[kind].name; }

bool view_bound_cause_text(const struct snapshot *snapshot, const struct verdict *verdict, struct text *out) {
    const struct verdict_cause *cause = &verdict->cause;
    const struct catalog_metric *metrics = snapshot->layout->catalog->metrics;
    if (cause->kind == CAUSE_NONE)
        return false;
    if (cause->kind == CAUSE_METRIC)
        text_format(out, " Most likely: %s, %.3g %% of %s. %s", view_title(&metrics[cause->metric]), 100 * cause->share,
                    view_whole(&metrics[cause->metric]), metrics[cause->metric].meaning);
    else if (cause->kind == CAUSE_EXECUTION)
        text_format(out, " Misses of caches and TLBs are too few for it: at least %.0f %% wait for execution. %s",
                    100 * cause->share, CAUSES[cause->kind].advice);
    else if (cause->kind == CAUSE_OPEN)
        text_string(out, " Misses of several levels are enough for it, and no event tells these apart.");
    else
        text_format(out, " Its misses say what for: %s. %s", CAUSES[cause->kind].text, CAUSES[cause->kind].advice);
    return true;
}
