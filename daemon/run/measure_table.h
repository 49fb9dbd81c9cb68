// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_MEASURE_TABLE_H
#define TOPDOWND_DAEMON_RUN_MEASURE_TABLE_H

// What measuring does when: one table says what each state does with each happening, and which state follows.
//
// Where reloading the configuration comes, it is a row of happenings: FINDING and YIELDED note it, MEASURING and
// LOOKING make another plan as for MEASURE_CPUS, PROBING begins anew.

enum measure_state {
    MEASURE_FINDING,   // there is no plan yet: counters are looked for
    MEASURE_MEASURING, // the sampler runs
    MEASURE_LOOKING,   // a round has ended: what has changed is looked at before measuring goes on
    MEASURE_PROBING,   // counters are looked for again, and none is held meanwhile
    MEASURE_YIELDED,   // all counters are handed over
    MEASURE_STATE_N
};

enum measure_happening {
    MEASURE_NOTHING, // no happening: the step is over

    // from outside
    MEASURE_DUE,       // the time has come for a step
    MEASURE_YIELD,     // somebody asks for the counters
    MEASURE_TAKE_BACK, // somebody no longer needs them

    // from what is being done
    MEASURE_ANSWER,     // the probe knows how many counters there are, or why that cannot be known
    MEASURE_ROUND_OVER, // the sampler has ended a round
    MEASURE_YIELD_OVER, // the time for which counters were handed over is over

    // from looking around, in the order in which they are asked about
    MEASURE_BOTTLENECK, // the adaptive schedule asks for another plan
    MEASURE_COUNTERS,   // counters are missed, or may be back
    MEASURE_BUDGET,     // slots are to have another length
    MEASURE_CPUS,       // CPUs to measure have come online
    MEASURE_SETTLED,    // none of these
    MEASURE_HAPPENING_N
};

enum measure_action {
    MEASURE_NEVER, // this cannot happen in this state
    MEASURE_IGNORE,
    MEASURE_REFUSE,
    MEASURE_STEP_PROBE,
    MEASURE_STEP_SAMPLER,
    MEASURE_STEP_YIELDED,
    MEASURE_LOOK_AROUND,
    MEASURE_MAKE_FIRST_PLAN,
    MEASURE_FOLLOW_COUNTERS,
    MEASURE_FINISH_ROUND,
    MEASURE_HAND_OVER,
    MEASURE_SHORTEN_YIELD,
    MEASURE_END_YIELD,
    MEASURE_BEGIN_PROBE,
    MEASURE_FOLLOW_BOTTLENECK,
    MEASURE_FOLLOW_BUDGET,
    MEASURE_FOLLOW_CPUS,
    MEASURE_GO_ON,
    MEASURE_ACTION_N
};

struct measure_rule {
    enum measure_action action;
    enum measure_state next; // from the action on
};

struct measure_rule measure_rule(enum measure_state state, enum measure_happening happening);

#endif
