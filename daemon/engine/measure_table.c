// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_table.h"

// Missing entries cannot happen: MEASURE_NEVER is 0.

struct measure_rule measure_rule(enum measure_state state, enum measure_happening happening) {
    static const struct measure_rule rules[MEASURE_STATE_N][MEASURE_HAPPENING_N] = {
        [MEASURE_FINDING] = {[MEASURE_DUE] = {MEASURE_STEP_PROBE, MEASURE_FINDING},
                             [MEASURE_YIELD] = {MEASURE_REFUSE, MEASURE_FINDING},
                             [MEASURE_TAKE_BACK] = {MEASURE_IGNORE, MEASURE_FINDING},
                             [MEASURE_ANSWER] = {MEASURE_MAKE_FIRST_PLAN, MEASURE_MEASURING}},

        [MEASURE_MEASURING] = {[MEASURE_DUE] = {MEASURE_STEP_SAMPLER, MEASURE_MEASURING},
                               [MEASURE_YIELD] = {MEASURE_HAND_OVER, MEASURE_YIELDED},
                               [MEASURE_TAKE_BACK] = {MEASURE_IGNORE, MEASURE_MEASURING},
                               [MEASURE_RELOAD] = {MEASURE_CHANGE_SETUP, MEASURE_MEASURING},
                               [MEASURE_ROUND_OVER] = {MEASURE_FINISH_ROUND, MEASURE_LOOKING}},

        [MEASURE_LOOKING] = {[MEASURE_DUE] = {MEASURE_LOOK_AROUND, MEASURE_LOOKING},
                             [MEASURE_YIELD] = {MEASURE_HAND_OVER, MEASURE_YIELDED},
                             [MEASURE_TAKE_BACK] = {MEASURE_IGNORE, MEASURE_LOOKING},
                             [MEASURE_RELOAD] = {MEASURE_CHANGE_SETUP, MEASURE_MEASURING},
                             [MEASURE_BOTTLENECK] = {MEASURE_FOLLOW_BOTTLENECK, MEASURE_LOOKING},
                             [MEASURE_COUNTERS] = {MEASURE_BEGIN_PROBE, MEASURE_PROBING},
                             [MEASURE_TRIED] = {MEASURE_FOLLOW_TRIAL, MEASURE_LOOKING},
                             [MEASURE_DEAD] = {MEASURE_FOLLOW_DEAD, MEASURE_LOOKING},
                             [MEASURE_BUDGET] = {MEASURE_FOLLOW_BUDGET, MEASURE_LOOKING},
                             [MEASURE_CPUS] = {MEASURE_FOLLOW_CPUS, MEASURE_LOOKING},
                             [MEASURE_SETTLED] = {MEASURE_GO_ON, MEASURE_MEASURING}},

        [MEASURE_PROBING] = {[MEASURE_DUE] = {MEASURE_STEP_PROBE, MEASURE_PROBING},
                             [MEASURE_YIELD] = {MEASURE_HAND_OVER, MEASURE_YIELDED},
                             [MEASURE_TAKE_BACK] = {MEASURE_IGNORE, MEASURE_PROBING},
                             [MEASURE_ANSWER] = {MEASURE_FOLLOW_COUNTERS, MEASURE_MEASURING}},

        [MEASURE_YIELDED] = {[MEASURE_DUE] = {MEASURE_STEP_YIELDED, MEASURE_YIELDED},
                             [MEASURE_YIELD] = {MEASURE_HAND_OVER, MEASURE_YIELDED},
                             [MEASURE_TAKE_BACK] = {MEASURE_SHORTEN_YIELD, MEASURE_YIELDED},
                             [MEASURE_RELOAD] = {MEASURE_CHANGE_SETUP_LATER, MEASURE_YIELDED},
                             [MEASURE_YIELD_OVER] = {MEASURE_END_YIELD, MEASURE_MEASURING}},
    };
    return rules[state][happening];
}
