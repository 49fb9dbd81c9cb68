// SPDX-License-Identifier: Apache-2.0
//
// Level 1 over the last hour as a stacked plot, so that it shows when something changed, and what happened then.
// Coordinates are whole numbers in a box of WIDTH x HEIGHT.

#include <math.h>
#include <string.h>

#include "exporters/html/html_parts.h"

enum {
    WIDTH = 720,
    HEIGHT = 160,
    MARGIN = 18,
    STEPS_MIN = 30,
    MARKS_SHOWN_MAX = 12,
    LABEL_WIDTH = 14,
    LABEL_HEIGHT = 12
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
    for (int part = 0; part <= 4; part++) {
        double step = (double)part / 4 * (double)plot->steps - (double)(plot->steps - history->n_steps);
        double at = ((double)history->first + step) * (double)history->step_ns;
        static const char *const anchors[] = {"start", "middle", "middle", "middle", "end"};
        text_format(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", part * WIDTH / 4, HEIGHT + MARGIN - 4,
                    anchors[part]);
        if (at > 0)
            put_time(view_history_seconds(history, (uint64_t)at), false, out);
        text_string(out, "</text>");
    }
    text_string(out, "\n");
}

// The marks of this core type that are shown: the newest ones.
static size_t first_mark(const struct plot *plot) {
    size_t n = 0, first = plot->history->n_marks;
    while (first > 0 && n < MARKS_SHOWN_MAX)
        n += plot->history->marks[--first].view == plot->view;
    return first;
}

static void put_mark_lines(const struct plot *plot, struct text *out) {
    unsigned number = 0;
    size_t last_x = 0, y = LABEL_HEIGHT;
    for (size_t i = first_mark(plot); i < plot->history->n_marks; i++) {
        const struct view_history_mark *mark = &plot->history->marks[i];
        double step = (double)mark->mark.at_ns / (double)plot->history->step_ns - (double)plot->history->first;
        if (mark->view != plot->view)
            continue;
        size_t x = x_of(plot, fmax(step, 0));
        y = number > 0 && x < last_x + LABEL_WIDTH && y + LABEL_HEIGHT < HEIGHT ? y + LABEL_HEIGHT : LABEL_HEIGHT;
        last_x = x;
        text_format(out, "<line x1=\"%zu\" x2=\"%zu\" y1=\"0\" y2=\"%d\"/><text x=\"%zu\" y=\"%zu\">%u</text>\n", x, x,
                    HEIGHT, x + LABEL_WIDTH < WIDTH ? x + 2 : x - LABEL_WIDTH, y, ++number);
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

static void put_key_entry(size_t category, const char *title, struct text *out) {
    text_format(out, "<span class=\"nb\"><span class=\"key c%zu\"></span>", category);
    html_put(out, title);
    text_string(out, "</span> &nbsp; ");
}

static void put_key(const struct plot *plot, struct text *out) {
    text_string(out, "<p>");
    for (size_t c = STACK_N; c-- > 0;)
        if (plot->stack[c])
            put_key_entry(c, view_title(view_metric(plot->view, plot->stack[c]->metric)), out);
    text_string(out, "<span class=\"soft\">from top to bottom; times are UTC</span>\n");
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
    if (!any) { // no pipeline slots here
        text_string(out, "<h2>What happened in the last hour</h2>\n");
        put_marks(&plot, out);
        return;
    }
    plot.steps = history->n_steps > STEPS_MIN ? history->n_steps : STEPS_MIN;
    text_format(
        out,
        "<h2>Pipeline slots in the last %zu minutes</h2>\n<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" "
        "aria-label=\"Shares of pipeline slots over time, as a stacked plot\">\n",
        (plot.steps * (size_t)(history->step_ns / 1000000000) + 59) / 60, WIDTH, HEIGHT + MARGIN);
    put_areas(&plot, out);
    put_mark_lines(&plot, out);
    put_axis(&plot, out);
    text_string(out, "</svg>\n");
    put_key(&plot, out);
    put_marks(&plot, out);
}
