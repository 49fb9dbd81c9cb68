// SPDX-License-Identifier: Apache-2.0
#include "top/view/lines.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/spec/base_unit.h"
static const char SECONDS[] = "seconds per ";
static const double NANO = 1e9;

bool lines_is_share(const char *unit) { return base_unit_whole(unit); }

// How long something takes, which is read in nanoseconds.
static bool is_latency(const char *unit) { return strncmp(unit, SECONDS, sizeof SECONDS - 1) == 0; }

const char *lines_unit(const char *unit) {
    const char *whole = base_unit_whole(unit);
    return whole ? whole : is_latency(unit) ? unit + strlen("seconds ") : unit;
}

static void scaled(char out[static LINES_TEXT_MAX], double value) {
    static const char prefixes[] = " kMGT";
    size_t i = 0;
    double magnitude = fabs(value);
    while (magnitude >= 9999.5 && prefixes[i + 1] != '\0') {
        magnitude /= 1000;
        value /= 1000;
        i++;
    }
    int decimals = magnitude >= 99.95 || magnitude == 0 ? 0 : magnitude >= 9.995 ? 1 : magnitude >= 0.0995 ? 2 : 3;
    if (magnitude > 0 && magnitude < 0.00995)
        decimals = magnitude < 0.000995 ? 5 : 4;
    (void)snprintf(out, LINES_TEXT_MAX, i > 0 ? "%.*f %c" : "%.*f", decimals, value, prefixes[i]);
}

void lines_value(char out[static LINES_TEXT_MAX], float value, const char *unit) {
    if (!isfinite(value))
        (void)snprintf(out, LINES_TEXT_MAX, "-");
    else if (lines_is_share(unit))
        (void)snprintf(out, LINES_TEXT_MAX, "%.1f %%", (double)value * 100);
    else if (is_latency(unit))
        (void)snprintf(out, LINES_TEXT_MAX, "%.4g ns", NANO * (double)value);
    else
        scaled(out, (double)value);
}

void lines_interval(char out[static LINES_TEXT_MAX], const struct frame_value *value, const char *unit) {
    double half = ((double)value->high - (double)value->low) / 2;
    out[0] = '\0';
    if (!isfinite(half))
        return;
    char number[LINES_TEXT_MAX];
    if (value->exact) {
        (void)snprintf(out, LINES_TEXT_MAX, "exact");
        return;
    }
    if (lines_is_share(unit))
        (void)snprintf(number, sizeof number, "%.1f", half * 100);
    else if (is_latency(unit))
        (void)snprintf(number, sizeof number, "%.1f", half * NANO);
    else
        scaled(number, half);
    (void)snprintf(out, LINES_TEXT_MAX, "\u00b1%.50s", number);
}

// False for what is no moment that a calendar has.
static bool is_moment(double seconds) { return fabs(seconds) < 1e11; }

void lines_time(char out[static LINES_TEXT_MAX], double seconds, double now_seconds) {
    bool known = is_moment(seconds) && is_moment(now_seconds);
    time_t at = known ? (time_t)seconds : 0, now = known ? (time_t)now_seconds : 0;
    struct tm then, today;
    if (!known || !localtime_r(&at, &then) || !localtime_r(&now, &today)) {
        (void)snprintf(out, LINES_TEXT_MAX, "unknown");
        return;
    }
    bool same = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
    (void)strftime(out, LINES_TEXT_MAX, same ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%S", &then);
}

void lines_span(char out[static LINES_TEXT_MAX], double seconds) {
    static const struct {
        double least, seconds;
        const char *name;
    } units[] = {{2 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {2 * 60, 60, "min"}, {0, 1, "s"}};
    size_t i = 0;
    while (seconds < units[i].least && i + 1 < sizeof units / sizeof *units)
        i++;
    (void)snprintf(out, LINES_TEXT_MAX, "%.0f %s", fmax(floor(seconds / units[i].seconds), 0), units[i].name);
}

enum style lines_category(const char *metric) {
    static const struct {
        const char *metric;
        enum style style;
    } categories[] = {{"frontend_bound_ratio", STYLE_FRONTEND},
                      {"bad_speculation_ratio", STYLE_SPECULATION},
                      {"retiring_ratio", STYLE_RETIRING},
                      {"backend_bound_ratio", STYLE_BACKEND}};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (strcmp(metric, categories[i].metric) == 0)
            return categories[i].style;
    return STYLE_PLAIN;
}

const struct frame_type *lines_type(const struct screen_state *view, const struct screen_data *data) {
    const struct frame *frame = data->frame;
    return frame && frame->n_types > 0 ? &frame->types[view->type < frame->n_types ? view->type : 0] : NULL;
}

void lines_scroll(struct screen_list *list, size_t n, unsigned rows) {
    list->at = n == 0 ? 0 : list->at < n ? list->at : n - 1;
    if (list->first > list->at)
        list->first = list->at;
    if (rows > 0 && list->at >= list->first + rows)
        list->first = list->at + 1 - rows;
    if (n <= rows)
        list->first = 0;
    else if (list->first + rows > n)
        list->first = n - rows;
}

// ---- the first rows and the last one ----

static void put_host(const struct screen_data *data, struct grid *grid) {
    const struct host *host = data->host;
    const struct frame *frame = data->frame;
    char time[LINES_TEXT_MAX] = "";
    unsigned column = grid_put(grid, 0, 0, grid->columns, STYLE_BAR, host ? host->name : "topdownd top");
    if (frame && (isfinite(frame->timestamp_seconds) || data->recording))
        lines_time(time, frame->timestamp_seconds, data->now_seconds);
    unsigned end = grid->columns > strlen(time) + 1 ? grid->columns - (unsigned)strlen(time) - 1 : 0;
    char facts[256] = "";
    if (host)
        (void)snprintf(facts, sizeof facts, "  %.100s, %u CPU%s, %u socket%s", host->cpu, host->cpus,
                       host->cpus == 1 ? "" : "s", host->sockets, host->sockets == 1 ? "" : "s");
    column = grid_put(grid, 0, column, end, STYLE_BAR, facts);
    if (frame && frame->simulated)
        column = grid_put(grid, 0, column, end, STYLE_BAR, "  SIMULATED");
    if (frame && frame->replay)
        (void)grid_put(grid, 0, column, end, STYLE_BAR, "  REPLAY");
    grid_right(grid, 0, grid->columns, STYLE_BAR, time);
    grid_paint(grid, 0, STYLE_BAR);
}

static void describe_play(const struct screen_data *data, char *out, size_t size) {
    if (data->over && data->behind == 0)
        (void)snprintf(out, size, "at the end of the recording");
    else if (data->paused)
        (void)snprintf(out, size, "PAUSED, %zu newer; space goes on", data->behind);
    else if (data->speed > 0)
        (void)snprintf(out, size, "played %g times as fast as it was", data->speed);
    else
        (void)snprintf(out, size, "played as fast as possible");
}

// A moment within a round has the values of the last one, like the moment before.
static void put_values_age(const struct frame *frame, struct grid *grid, unsigned column) {
    static const double TELLING = 0.5; // seconds
    char age[LINES_TEXT_MAX], span[LINES_TEXT_MAX];
    if (!frame || !(frame->values_age >= TELLING))
        return;
    lines_span(age, frame->values_age);
    lines_span(span, frame->values_seconds);
    (void)grid_print(grid, 1, column, STYLE_FAINT, "; values are of %.40s, to %.40s before", span, age);
}

static void put_source(const struct screen_data *data, struct grid *grid) {
    char how[128] = "", age[LINES_TEXT_MAX];
    if (data->recording)
        describe_play(data, how, sizeof how);
    else if (data->paused) {
        (void)snprintf(how, sizeof how, "PAUSED, %zu newer; space goes on", data->behind);
    } else if (data->frame && isfinite(data->frame->timestamp_seconds) && !data->frame->replay) {
        lines_span(age, data->now_seconds - data->frame->timestamp_seconds);
        (void)snprintf(how, sizeof how, "%.40s old", age);
    }
    unsigned column = grid_put(grid, 1, 0, grid->columns, STYLE_FAINT, data->source);
    if (how[0] != '\0')
        column = grid_print(grid, 1, column, data->paused ? STYLE_STRONG : STYLE_FAINT, ": %s", how);
    put_values_age(data->frame, grid, column);
}

unsigned lines_frame(const struct screen_data *data, struct grid *grid, const char *keys) {
    unsigned row = 2;
    put_host(data, grid);
    put_source(data, grid);
    if (data->gone) {
        (void)grid_print(grid, row, 0, STYLE_WARNING, "GONE: ");
        row += grid_wrap(grid, row, 2, strlen("GONE: "), STYLE_WARNING, data->gone);
    }
    grid_paint(grid, grid->rows - 1, STYLE_BAR);
    (void)grid_put(grid, grid->rows - 1, 0, grid->columns, STYLE_BAR, keys);
    return row;
}
