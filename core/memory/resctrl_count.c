// SPDX-License-Identifier: Apache-2.0
#include "core/memory/resctrl_count.h"

#include <math.h>

// A pass is read within this time of the moment that it states.
static const double SLACK_SECONDS = 1;

static double above_zero(double value) { return value > 0 ? value : 0; } // of NaN, too

static struct resctrl_growth none(enum resctrl_gap gap) { return (struct resctrl_growth){.gap = gap}; }

static double most_since(struct resctrl_moment now, double seconds) {
    return now.most_per_second * (now.seconds - seconds + SLACK_SECONDS);
}

// The next interval begins here.
static void begin_interval(struct resctrl_count *count, const struct resctrl_seen *seen) {
    count->from_total = seen->most_total;
    count->from_local = seen->most_local;
}

// And nothing that was counted before tells what comes.
static void begin_anew(struct resctrl_count *count, const struct resctrl_seen *seen, double seconds) {
    begin_interval(count, seen);
    count->total = count->from_total;
    count->local = count->from_local;
    count->seconds = seconds;
    count->known = count->readable = true;
}

static struct resctrl_growth lose(struct resctrl_count *count, const struct resctrl_seen *seen) {
    bool ceased = count->readable;
    count->readable = false;
    return none(!ceased ? RESCTRL_GAP_NONE : seen->unassigned ? RESCTRL_GAP_UNASSIGNED : RESCTRL_GAP_UNAVAILABLE);
}

// The first number. It may be that of days, unless the group was made since the last pass.
static struct resctrl_growth begin(struct resctrl_count *count, const struct resctrl_seen *seen,
                                   struct resctrl_moment now, bool fresh) {
    begin_anew(count, seen, now.seconds);
    if (!fresh)
        return none(RESCTRL_GAP_UNAVAILABLE);
    if (now.last_seconds > 0 && fmax(seen->total, above_zero(seen->local)) > most_since(now, now.last_seconds))
        return none(RESCTRL_GAP_IMPLAUSIBLE);
    count->total = seen->total;
    count->local = isnan(seen->local) ? NAN : above_zero(seen->local);
    double local = above_zero(seen->local);
    return (struct resctrl_growth){seen->total, local, seen->total, local, RESCTRL_GAP_NONE};
}

// Beside its monitoring groups maybe nothing is left of an own part. If there was more, it cannot be read now.
static struct resctrl_growth hide(struct resctrl_count *count, const struct resctrl_seen *seen) {
    if (!count->known || seen->most_total < count->total)
        return lose(count, seen);
    begin_interval(count, seen);
    count->hidden = true;
    return none(RESCTRL_GAP_NONE);
}

// Other monitoring groups can be read than before. With them, what was counted says nothing of a sum.
static struct resctrl_growth wait(struct resctrl_count *count, const struct resctrl_seen *seen, double seconds) {
    if (seen->whole)
        begin_anew(count, seen, seconds);
    begin_interval(count, seen);
    count->readable = true;
    return none(RESCTRL_GAP_GROUPS);
}

// The hardware was set back; or a monitoring group was not in the sum of an own part, and may be back in the next one.
static bool falls(struct resctrl_count *count, const struct resctrl_seen *seen) {
    bool fell = seen->most_total < count->total || seen->most_local < count->local;
    bool back = count->fell_from > 0 && seen->total >= count->fell_from;
    if (fell && (seen->part || seen->whole))
        count->fell_from = fmax(count->fell_from, count->total);
    else if (back)
        count->fell_from = 0;
    return fell || back;
}

// True if the interval may have bytes of others: the last pass did not see whether there was a number.
static bool resumes(const struct resctrl_count *count, bool hidden, double interval_total) {
    return !count->readable || (hidden && interval_total > count->from_total);
}

static struct resctrl_growth go_on(struct resctrl_count *count, const struct resctrl_seen *seen, bool hidden,
                                   struct resctrl_moment now) {
    double total = above_zero(seen->total - count->total), local = above_zero(seen->local - count->local);
    struct resctrl_growth growth = {.total = total,
                                    .local = local,
                                    .interval_total = fmin(total, above_zero(seen->total - count->from_total)),
                                    .interval_local = fmin(local, above_zero(seen->local - count->from_local))};
    if (resumes(count, hidden, growth.interval_total))
        growth.gap = RESCTRL_GAP_UNAVAILABLE;
    enum resctrl_gap refused = falls(count, seen)                                     ? RESCTRL_GAP_FELL
                               : fmax(total, local) > most_since(now, count->seconds) ? RESCTRL_GAP_IMPLAUSIBLE
                                                                                      : RESCTRL_GAP_NONE;
    if (refused != RESCTRL_GAP_NONE) {
        begin_anew(count, seen, now.seconds);
        return none(refused);
    }
    count->from_total = count->readable && seen->total >= count->from_total ? seen->total : seen->most_total;
    count->from_local = count->readable && seen->local >= count->from_local ? seen->local : seen->most_local;
    count->total += total;
    count->local = isnan(count->local) ? NAN : count->local + local;
    count->seconds = now.seconds;
    count->readable = true;
    return growth;
}

struct resctrl_growth resctrl_count_take(struct resctrl_count *count, const struct resctrl_seen *seen,
                                         struct resctrl_moment now) {
    bool fresh = !count->seen, hidden = count->hidden;
    bool settled = seen->old == count->set;
    count->seen = true;
    count->hidden = false;
    count->set = seen->set;
    if (!seen->number)
        return lose(count, seen);
    if (seen->part && !(seen->total > 0))
        return hide(count, seen);
    if (!count->known || isnan(count->local) != isnan(seen->local))
        return begin(count, seen, now, fresh);
    return settled ? go_on(count, seen, hidden, now) : wait(count, seen, now.seconds);
}
