// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_quality.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *const TEXTS[ESTIMATE_DOUBTS] = {
    [ESTIMATE_FEW_ROUNDS] = "too few rounds tell how far off it may be: measure for longer",
    [ESTIMATE_FEW_WINDOWS] = "too few windows carry the counts: measure for longer, or look at the socket or the host",
    [ESTIMATE_FEW_CARRY] =
        "few rounds carry what varies, as with one burst or one change of the load: measure for longer",
    [ESTIMATE_SLEPT] =
        "the core slept most of the time, so few windows tell how far off it may be: measure for longer, "
        "or look at the socket or the host",
    [ESTIMATE_MISSED] = "its windows missed a part of what other event groups saw: measure for longer",
    [ESTIMATE_ROUNDED] = "the PMU rounds what it counts, or does not count the core's pipeline slots",
    [ESTIMATE_VARIES] =
        "the load varies by that much from window to window: measure for longer, or fewer metric groups",
};

const char *estimate_quality_name(enum estimate_quality quality) {
    static const char *const names[ESTIMATE_QUALITY_N] = {"none", "good", "fair", "poor"};
    return names[quality];
}

const char *estimate_doubt_text(enum estimate_doubt doubt) { return TEXTS[doubt]; }

enum estimate_doubt estimate_doubt_find(const char *text) {
    for (int i = ESTIMATE_SURE + 1; i < ESTIMATE_DOUBTS; i++)
        if (strcmp(text, TEXTS[i]) == 0)
            return (enum estimate_doubt)i;
    return ESTIMATE_SURE;
}

enum estimate_quality estimate_quality_of(const struct catalog_metric *metric, double value, double half) {
    bool share = metric->domain != METRIC_OTHER;
    double good = share ? 0.01 : 0.05 * fabs(value), fair = share ? 0.03 : 0.2 * fabs(value);
    if (isnan(half))
        return ESTIMATE_NONE;
    return half <= good ? ESTIMATE_GOOD : half <= fair ? ESTIMATE_FAIR : ESTIMATE_POOR;
}

struct estimate_judgement estimate_judge(const struct catalog_metric *metric, double value,
                                         const struct estimate_width *width) {
    enum estimate_quality quality = estimate_quality_of(metric, value, width->half);
    if (estimate_hardly_known(width->factor))
        return (struct estimate_judgement){ESTIMATE_POOR, width->from.few};
    if (quality != ESTIMATE_POOR)
        return (struct estimate_judgement){quality, ESTIMATE_SURE};
    bool kept = width->from.kept != ESTIMATE_SURE && width->kept > width->by_chance;
    return (struct estimate_judgement){quality, kept ? width->from.kept : ESTIMATE_VARIES};
}
