// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_TABLE_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_TABLE_H

// The state machine of measuring: one table gives each state's action on each happening, and the next state.

enum measure_state {
    MEASURE_FINDING,   // no plan yet: probing for counters
    MEASURE_MEASURING, // the sampler runs
    MEASURE_LOOKING,   // a round has ended: checks for changes before measuring continues
    MEASURE_PROBING,   // probing for counters again, holding none meanwhile
    MEASURE_YIELDED,   // all counters are yielded
    MEASURE_STATE_N
};

enum measure_happening {
    MEASURE_NOTHING, // no happening: the step is over

    // from outside
    MEASURE_DUE,       // a step is due
    MEASURE_YIELD,     // a client asks for the counters
    MEASURE_TAKE_BACK, // a client no longer needs them
    MEASURE_RELOAD,    // another set-up was prepared

    // from the current activity
    MEASURE_ANSWER,     // the probe has the number of counters, or an error
    MEASURE_ROUND_OVER, // the sampler has ended a round
    MEASURE_YIELD_OVER, // the time without counters is over

    // from looking around, in the order of the checks
    MEASURE_BOTTLENECK, // the adaptive schedule needs another plan, or a verdict asks for more
    MEASURE_COUNTERS,   // counters are missing, or may be back
    MEASURE_TRIED,      // a trial has found that event groups must be made otherwise
    MEASURE_DEAD,       // an event never counts, and a metric may have another definition
    MEASURE_BUDGET,     // the length of slots must change
    MEASURE_CPUS,       // there are more CPUs to measure, or fewer
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
    MEASURE_FOLLOW_TRIAL,
    MEASURE_FOLLOW_DEAD,
    MEASURE_FOLLOW_BUDGET,
    MEASURE_FOLLOW_CPUS,
    MEASURE_CHANGE_SETUP,
    MEASURE_CHANGE_SETUP_LATER,
    MEASURE_GO_ON,
    MEASURE_ACTION_N
};

struct measure_rule {
    enum measure_action action;
    enum measure_state next; // from the action on
};

struct measure_rule measure_rule(enum measure_state state, enum measure_happening happening);

#endif
