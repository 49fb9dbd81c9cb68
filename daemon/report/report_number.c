// SPDX-License-Identifier: Apache-2.0
#include "daemon/report/report_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/spec/base_unit.h"

enum { DECIMALS_MOST = 9 };

int report_number_write(char out[static REPORT_NUMBER_MAX], double value, int digits) {
    double magnitude = fabs(value);
    int before = magnitude > 0 ? 1 + (int)floor(log10(magnitude)) : digits;
    int after = before >= digits ? 0 : digits - before;
    return snprintf(out, REPORT_NUMBER_MAX, "%.*f", after < DECIMALS_MOST ? after : DECIMALS_MOST, value);
}

bool report_number_is_share(const struct catalog_metric *metric) {
    char unit[CATALOG_UNIT_MAX];
    catalog_metric_unit(metric, unit, sizeof unit);
    return metric->domain != METRIC_OTHER || metric->export_scale == 0.01 || base_unit_whole(unit);
}

const char *report_number_plus_minus(const struct screen *screen) { return screen->utf8 ? "±" : "+-"; }

int report_number_put(const struct report_row *row, const struct screen *screen, struct text *out) {
    char number[REPORT_NUMBER_MAX], interval[REPORT_NUMBER_MAX] = "";
    bool share = report_number_is_share(row->metric);
    double scale = share ? 100 : 1, half = (row->high - row->low) / 2 * scale;
    int width = share ? snprintf(number, sizeof number, "%5.1f %%", scale * row->value)
                      : report_number_write(number, row->value, REPORT_NUMBER_DIGITS);
    text_string(out, number);
    if (!isfinite(half))
        return width;
    if (row->exact) {
        text_string(out, " exact");
        return width + (int)sizeof " exact" - 1;
    }
    int more = share ? snprintf(interval, sizeof interval, "%.1f", half)
                     : report_number_write(interval, half, REPORT_NUMBER_DIGITS_OF_INTERVAL);
    text_format(out, " %s%s", report_number_plus_minus(screen), interval);
    return width + 1 + (screen->utf8 ? 1 : 2) + more;
}
