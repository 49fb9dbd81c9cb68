// SPDX-License-Identifier: Apache-2.0
//
// The platform's facts as a table.

#include "exporters/html/html_parts.h"

#include <string.h>

#include "core/base/decimal.h"

static void put_value(struct text *out, enum platform_unit unit, const struct platform_value *value) {
    char size[DECIMAL_SIZE_MAX];
    if (unit == PLATFORM_TEXT)
        html_put(out, value->text);
    else if (unit == PLATFORM_HERTZ)
        text_format(out, "%.4g GHz", value->number * 1e-9);
    else if (unit == PLATFORM_BYTES)
        text_string(out, decimal_write_size(value->number, size));
    else
        text_format(out, "%.0f", value->number);
}

static void put_fact(struct text *out, const struct platform_name *name, const struct platform_fact *fact) {
    text_string(out, "<tr><th>");
    html_put(out, name->title);
    text_string(out, "<td>");
    if (fact->n_values == 1)
        put_value(out, name->unit, &fact->values[0]);
    for (size_t i = 0; fact->n_values > 1 && i < fact->n_values; i++) {
        text_string(out, i > 0 ? "; " : "CPUs differ: ");
        put_value(out, name->unit, &fact->values[i]);
        text_format(out, " on %zu (", fact->values[i].n_cpus);
        html_put(out, fact->values[i].cpus);
        text_string(out, ")");
    }
    if (fact->n_values == 0) {
        text_string(out, "<span class=\"soft\">not known: ");
        html_put(out, fact->reason);
        text_string(out, "</span>");
    }
    text_string(out, "\n");
}

static void put_watchdog(struct text *out, const char *word) {
    const char *does = strcmp(word, "holds_a_counter") == 0 ? "on, holds a counter of every CPU"
                       : strcmp(word, "holds_none") == 0    ? "on, holds no counter"
                                                            : "off";
    text_format(out, "<tr><th>NMI watchdog<td>%s\n", does);
}

void html_platform_render(const struct view *view, struct text *out) {
    if (!view->platform)
        return;
    text_string(out, "<h2>Platform</h2>\n<table>\n");
    for (int key = 0; key < PLATFORM_KEY_N; key++)
        put_fact(out, &platform_names[key], &view->platform->facts[key]);
    if (view->nmi_watchdog)
        put_watchdog(out, view->nmi_watchdog);
    text_string(out, "</table>\n");
}
