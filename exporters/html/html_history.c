// SPDX-License-Identifier: Apache-2.0
//
// Level 1 over the last hour as a stacked plot, so that it shows when something changed, and what happened then.
// Coordinates are whole numbers in a box of WIDTH x HEIGHT, which the browser stretches; all text stands beside or upon
// it, in a size of its own.

#include <math.h>
#include <string.h>

#include "exporters/html/html_parts.h"

enum {
    WIDTH = 720,
    HEIGHT = 160,
    STEPS_MIN = 30,
    MARKS_SHOWN_MAX = 12,
    LABEL_WIDTH = 48, // of a mark's number where the plot is as narrow as on a phone
    LABEL_ROWS = 6
};
enum { STACK_N = CATEGORY_SMT_CONTENTION }; // those that add up

struct plot {
    const struct view_history *history;
    const struct view *view;
    const struct view_history_series *stack[STACK_N]; // from the bottom; NULL: this host has none
    size_t steps;                                     // of the whole width
};

static const struct view_history_series *find_category(const struct plot *plot, enum category category) {
    const struct catalog_level1 *level1 = &plot->view->layout->catalog->level1;
    for (size_t i = 0; i < plot->history->n_series; i++)
        for (size_t c = 0; c < level1->n_categories; c++) {
            const struct view_history_series *series = &plot->history->series[i];
            if (series->view == plot->view && level1->categories[c].category == category &&
                plot->view->layout->plan->metrics[series->metric].metric == level1->categories[c].metric)
                return series;
        }
    return NULL;
}

// The plot's right end is now, whatever is known of the time before.
static size_t x_of(const struct plot *plot, double step) {
    double before = (double)(plot->steps - plot->history->n_steps);
    return (size_t)lround((before + step) / (double)plot->steps * WIDTH);
}

// The sum of the lowest `n` series in a step; NaN where nothing was measured.
static double sum_of(const struct plot *plot, size_t n, size_t step) {
    double sum = 0;
    for (size_t c = 0; c < STACK_N; c++)
        if (plot->stack[c])
            sum += c < n ? plot->stack[c]->values[step] : 0 * plot->stack[c]->values[step];
    return fmin(fmax(sum, 0), 1);
}

static bool is_known(const struct plot *plot, size_t step) {
    for (size_t c = 0; c < STACK_N; c++)
        if (plot->stack[c] && isnan(plot->stack[c]->values[step]))
            return false;
    return true;
}

static void put_point(const struct plot *plot, double step, double share, struct text *out) {
    text_format(out, "%zu,%ld ", x_of(plot, step), lround((1 - share) * HEIGHT));
}

// The area of the stack's series `c` in the steps from `begin` to before `end`, all of them known.
static void put_area(const struct plot *plot, size_t c, size_t begin, size_t end, struct text *out) {
    text_format(out, "<polygon class=\"f%zu\" points=\"", c);
    for (size_t step = begin; step < end; step++) {
        put_point(plot, (double)step, sum_of(plot, c + 1, step), out);
        put_point(plot, (double)step + 1, sum_of(plot, c + 1, step), out);
    }
    for (size_t step = end; step-- > begin;) {
        put_point(plot, (double)step + 1, sum_of(plot, c, step), out);
        put_point(plot, (double)step, sum_of(plot, c, step), out);
    }
    text_string(out, "\"/>\n");
}

static void put_areas(const struct plot *plot, struct text *out) {
    for (size_t begin = 0; begin < plot->history->n_steps;) {
        size_t end = begin;
        while (end < plot->history->n_steps && is_known(plot, end))
            end++;
        for (size_t c = 0; c < STACK_N && end > begin; c++)
            if (plot->stack[c])
                put_area(plot, c, begin, end, out);
        begin = end + (end == begin);
    }
}

// "14:05" or, with seconds, "14:05:09"; "" where the time is not known.
static void put_time(double seconds, bool with_seconds, struct text *out) {
    char text[VIEW_TIME_MAX];
    if (!view_time(seconds, text))
        return;
    const char *clock = strchr(text, ' ');
    text_append(out, clock + 1, with_seconds ? 8 : 5);
}

static void put_axis(const struct plot *plot, struct text *out) {
    const struct view_history *history = plot->history;
    text_string(out, "<div class=\"x\">");
    for (int part = 0; part <= 4; part++) {
        double step = (double)part / 4 * (double)plot->steps - (double)(plot->steps - history->n_steps);
        double at = ((double)history->first + step) * (double)history->step_ns;
        text_string(out, "<span>");
        if (at > 0 || history->first < 0)
            put_time(view_history_seconds(history, (int64_t)at), false, out);
        text_string(out, "</span>");
    }
    text_string(out, "</div></figure>\n");
}

// The marks of this core type that are shown: the newest ones.
static size_t first_mark(const struct plot *plot) {
    size_t n = 0, first = plot->history->n_marks;
    while (first > 0 && n < MARKS_SHOWN_MAX)
        n += plot->history->marks[--first].view == plot->view;
    return first;
}

static size_t mark_x(const struct plot *plot, const struct view_history_mark *mark) {
    double step = (double)mark->mark.at_ns / (double)plot->history->step_ns - (double)plot->history->first;
    return x_of(plot, fmax(step, 0));
}

static void put_mark_lines(const struct plot *plot, struct text *out) {
    for (size_t i = first_mark(plot); i < plot->history->n_marks; i++) {
        size_t x = mark_x(plot, &plot->history->marks[i]);
        if (plot->history->marks[i].view == plot->view)
            text_format(out, "<line x1=\"%zu\" x2=\"%zu\" y1=\"0\" y2=\"%d\"/>\n", x, x, HEIGHT);
    }
}

// The marks' numbers, one below the other where they would hide one another.
static void put_mark_numbers(const struct plot *plot, struct text *out) {
    size_t number = 0, row = 0, last_x = 0;
    for (size_t i = first_mark(plot); i < plot->history->n_marks; i++) {
        size_t x = mark_x(plot, &plot->history->marks[i]);
        if (plot->history->marks[i].view != plot->view)
            continue;
        row = number > 0 && x < last_x + LABEL_WIDTH ? (row + 1) % LABEL_ROWS : 0;
        last_x = x;
        text_format(out, "<span class=\"mark\" style=\"%s:%.1f%%;top:%.1fem\">%zu</span>",
                    x + LABEL_WIDTH < WIDTH ? "left" : "right",
                    100.0 * (double)(x + LABEL_WIDTH < WIDTH ? x : WIDTH - x) / WIDTH, 1.6 * (double)row, ++number);
    }
}

static void put_marks(const struct plot *plot, struct text *out) {
    text_string(out, "<ol class=\"marks\">\n");
    for (size_t i = first_mark(plot); i < plot->history->n_marks; i++) {
        const struct view_history_mark *mark = &plot->history->marks[i];
        if (mark->view != plot->view)
            continue;
        text_string(out, "<li>");
        put_time(view_history_seconds(plot->history, mark->mark.at_ns), true, out);
        text_string(out, mark->mark.kind == MARK_VERDICT ? " bound by: " : " ");
        html_put(out, mark->mark.text);
        text_string(out, "</li>\n");
    }
    text_string(out, "</ol>\n");
}

static void put_key_entry(size_t color, const char *title, struct text *out) {
    text_format(out, "<span class=\"nb\"><span class=\"key c%zu\"></span>", color);
    html_put(out, title);
    text_string(out, "</span>");
}

enum { COLOR_UNKNOWN = CATEGORY_N }; // of the plot's ground

static void put_key(const struct plot *plot, struct text *out) {
    text_string(out, "<div class=\"legend\"><span class=\"soft\">From top to bottom:</span>");
    for (size_t c = STACK_N; c-- > 0;)
        if (plot->stack[c])
            put_key_entry(c, view_title(view_metric(plot->view, plot->stack[c]->metric)), out);
    put_key_entry(COLOR_UNKNOWN, "not measured", out);
    text_string(out, "<span class=\"soft\">Times are UTC.</span></div>\n");
}

static void put_plot(const struct plot *plot, struct text *out) {
    text_format(out,
                "<h2>Pipeline slots in the last %zu minutes</h2>\n<figure class=\"plot\"><div class=\"y\"><span>100 %%"
                "</span><span>50 %%</span><span>0</span></div><div class=\"canvas\"><svg viewBox=\"0 0 %d %d\" "
                "preserveAspectRatio=\"none\" role=\"img\" "
                "aria-label=\"Shares of pipeline slots over time, as a stacked plot\">\n",
                (plot->steps * (size_t)(plot->history->step_ns / 1000000000) + 59) / 60, WIDTH, HEIGHT);
    put_areas(plot, out);
    put_mark_lines(plot, out);
    text_string(out, "</svg>");
    put_mark_numbers(plot, out);
    text_string(out, "</div>\n");
    put_axis(plot, out);
    put_key(plot, out);
    text_string(out, "<p class=\"script\"><a id=\"level1-day-");
    html_put(out, plot->view->core_type ? plot->view->core_type : "");
    text_string(out, "\" data-metric=\"level1\" href=\"/api/v1/history?step=300\">The same over the last day</a>\n");
}

void html_history_render(const struct view *view, const struct view_history *history, struct text *out) {
    struct plot plot = {.history = history, .view = view};
    bool any = false;
    for (size_t c = 0; c < STACK_N; c++) {
        plot.stack[c] = find_category(&plot, (enum category)c);
        any = any || plot.stack[c];
    }
    if (history->n_steps == 0)
        return;
    plot.steps = history->n_steps > STEPS_MIN ? history->n_steps : STEPS_MIN;
    if (any)
        put_plot(&plot, out);
    else // no pipeline slots here
        text_string(out, "<h2>What happened in the last hour</h2>\n");
    put_marks(&plot, out);
}
