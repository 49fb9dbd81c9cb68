// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/diff_play.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/compare/difference.h"
#include "daemon/base/terminal.h"
#include "daemon/engine/engines.h"
#include "daemon/engine/replay.h"
#include "daemon/uncore/uncore_setup.h"

static const double SECOND_NS = 1e9;
_Static_assert((int)SETUP_TYPES_MAX <= (int)STRETCH_SOURCES_MAX, "a stretch has all that a recording has");

enum { SHOWN_EVERY = 64 }; // snapshots between two looks at the clock

// ---- which part ----

static bool read_seconds(const char **text, double *out) {
    struct decimal number;
    if (!decimal_read(text, &number))
        return false;
    *out = decimal_value(number);
    return true;
}

bool diff_part_read(const char *word, struct diff_part *out) {
    const char *at = strrchr(word, '@'), *end = at ? at + 1 : NULL;
    *out = (struct diff_part){.from_seconds = 0, .to_seconds = INFINITY};
    bool part = at && *end >= '0' && *end <= '9' && !strchr(at, '/');
    size_t length = part ? (size_t)(at - word) : strlen(word);
    if (length >= sizeof out->path)
        return false;
    memcpy(out->path, word, length);
    out->path[length] = '\0';
    if (!part)
        return true;
    if (!read_seconds(&end, &out->from_seconds) || *end++ != '-')
        return false;
    return *end == '\0' ||
           (read_seconds(&end, &out->to_seconds) && *end == '\0' && out->to_seconds > out->from_seconds);
}

// ---- playing ----

// A replay runs on its own time: it goes to whatever is due next.
struct virtual_time {
    uint64_t now_ns;
};

struct playing {
    const struct diff_part *part;
    struct stretch *stretch;
    struct engines engines; // the core type's, then its boxes'
    size_t n;
    uint64_t first_ns, taken_from_ns, taken_to_ns;
    double seconds; // from the beginning of the recording
    struct terminal_progress progress;
};

static int take_cores(struct playing *playing, const struct snapshot *snapshot) {
    if (playing->n++ == 0)
        playing->first_ns = snapshot->start_ns;
    double seconds = playing->seconds = (double)(snapshot->end_ns - playing->first_ns) / SECOND_NS;
    if (playing->n % SHOWN_EVERY == 1)
        terminal_progress_show(&playing->progress, "reading %s: %.0f s", playing->part->path, seconds);
    if (seconds < playing->part->from_seconds || seconds > playing->part->to_seconds)
        return 0;
    if (!playing->stretch->begun)
        playing->taken_from_ns = snapshot->end_ns;
    playing->taken_to_ns = snapshot->end_ns;
    return stretch_take(playing->stretch, 0, snapshot);
}

// Of boxes: the part of the recording is told by the core type's snapshots.
static int take_boxes(struct playing *playing, size_t source, const struct snapshot *snapshot) {
    double seconds = ((double)snapshot->end_ns - (double)playing->first_ns) / SECOND_NS;
    bool wanted = playing->n > 0 && seconds >= playing->part->from_seconds && seconds <= playing->part->to_seconds;
    return wanted ? stretch_take(playing->stretch, source, snapshot) : 0;
}

static int take(size_t i, struct snapshot *snapshot, void *context) {
    if (snapshot->sequence == 0)
        return 0;
    return i == 0 ? take_cores(context, snapshot) : take_boxes(context, i, snapshot);
}

static int run(struct playing *playing, const struct clocks *clocks, struct virtual_time *time) {
    int r = 0;
    bool over = false;
    while (r >= 0 && !over) {
        uint64_t next_ns;
        r = engines_step(&playing->engines, clocks, take, playing, &next_ns);
        over = true;
        for (size_t i = 0; i < playing->engines.n; i++)
            over = over && replay_is_over(playing->engines.of[i]);
        time->now_ns = next_ns > time->now_ns ? next_ns : time->now_ns;
    }
    terminal_progress_end(&playing->progress);
    return r;
}

static int play(struct setup *setup, struct playing *playing, struct errors *errors) {
    struct virtual_time time = {.now_ns = (uint64_t)SECOND_NS};
    const struct clocks clocks = clocks_virtual(&time.now_ns);
    struct self self;
    self_init(&self, &clocks, setup_n_cpus(setup), time.now_ns);
    int r = engines_init(&playing->engines, setup, &self, NULL, time.now_ns, errors);
    if (r >= 0)
        r = run(playing, &clocks, &time);
    engines_deinit(&playing->engines);
    return r;
}

int diff_play(const struct options *options, const struct diff_part *part, enum stretch_scope finest,
              struct errors *errors, struct diff_played *out) {
    struct options replay = *options;
    struct setup *setup = calloc(1, sizeof *setup);
    *out = (struct diff_played){.stretch = stretch_new(finest)};
    struct playing playing = {.part = part, .stretch = out->stretch};
    replay.pmu = PMU_REPLAY;
    replay.replay.path = part->path;
    replay.replay.speed = 1;
    int r = setup && out->stretch ? setup_init(setup, &replay, errors) : -ENOMEM;
    if (r >= 0)
        r = uncore_setup(setup, &replay, errors);
    if (r >= 0) {
        setup->quiet = true;
        const char *host = setup_shown_host(setup);
        (void)snprintf(out->hostname, sizeof out->hostname, "%s", host ? host : "an unknown host");
        (void)snprintf(out->spec, sizeof out->spec, "%s", setup->types[0].source->catalog->product.spec);
        r = play(setup, &playing, errors);
    }
    if (r >= 0 && !out->stretch->begun)
        r = errors_add(errors, part->path, 0, 0,
                       "no snapshot ends in the part that was asked for: the recording lasts %.1f s", playing.seconds);
    if (r >= 0) {
        out->seconds = (double)(playing.taken_to_ns - playing.taken_from_ns) / SECOND_NS;
        stretch_end(out->stretch, DIFFERENCE_BATCHES);
    }
    if (setup)
        setup_deinit(setup);
    free(setup);
    return r < 0 ? r : 0;
}

void diff_played_deinit(struct diff_played *played) { played->stretch = stretch_free(played->stretch); }
