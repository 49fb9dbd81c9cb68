// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/measuring.h"

#include <unistd.h>

#include "daemon/source/source_sim.h"

// ---- the test's host ----

// Every function of the driver has the source, whose driver is in the test's struct.
static struct measuring *of(const struct source *source) {
    return (struct measuring *)((char *)source->driver - offsetof(struct measuring, driver));
}

static int wrapped_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out) {
    struct measuring *m = of(source);
    struct pmu *pmu;
    if (m->pmu_error < 0)
        return m->pmu_error;
    int r = m->inner->pmu(source, now_ns, errors, &pmu);
    if (r < 0)
        return r;
    recorder_init(&m->recorder, pmu);
    *out = &m->recorder.pmu;
    return 0;
}

static int wrapped_update(const struct source *source, const struct cpuset *selected, const struct topology *known,
                          struct topology **out) {
    struct measuring *m = of(source);
    (void)selected;
    (void)known;
    m->n_looks++;
    if (m->looking_error < 0 || !m->arriving)
        return m->looking_error;
    *out = m->arriving;
    m->arriving = NULL;
    return 1;
}

static bool wrapped_watchdog(const struct source *source) { return of(source)->watchdog_on; }

static uint64_t virtual_now_ns(const void *context) { return ((const struct measuring *)context)->now_ns; }

// Asked twice a step: at its beginning and at its end.
static uint64_t virtual_cpu_ns(const void *context) {
    struct measuring *m = (struct measuring *)context;
    m->cpu_ns += m->step_cost_ns;
    return m->cpu_ns;
}

static double virtual_realtime(const void *context) {
    return 1e9 + (double)((const struct measuring *)context)->now_ns * 1e-9;
}

// ---- what is logged ----

static FILE *begin_log(struct measuring *m) {
    FILE *before = stderr;
    stderr = m->log;
    return before;
}

static void end_log(FILE *before) {
    (void)fflush(stderr);
    stderr = before;
}

void measuring_forget(struct measuring *m) {
    if (m->log)
        (void)fclose(m->log);
    free(m->logged);
    m->logged = NULL;
    m->log = open_memstream(&m->logged, &m->logged_size);
    assert_non_null(m->log);
}

size_t measuring_said(struct measuring *m, const char *text) {
    size_t n = 0;
    (void)fflush(m->log);
    for (const char *at = m->logged; (at = strstr(at, text)); at += strlen(text))
        n++;
    return n;
}

// ---- making ----

static void write_config(struct measuring *m, const char *yaml) {
    const char *folder = getenv("TMPDIR");
    (void)snprintf(m->folder, sizeof m->folder, "%.40s/topdownd-XXXXXX", folder ? folder : P_tmpdir);
    assert_non_null(mkdtemp(m->folder));
    (void)snprintf(m->config, sizeof m->config, "%s/topdownd.yaml", m->folder);
    FILE *file = fopen(m->config, "we");
    assert_non_null(file);
    assert_true(fputs(yaml, file) >= 0);
    assert_int_equal(fclose(file), 0);
    m->options.config = m->config;
    m->options.config_given = true;
}

static void remove_config(struct measuring *m) {
    assert_int_equal(unlink(m->config), 0);
    assert_int_equal(rmdir(m->folder), 0);
}

void measuring_load(struct measuring *m, const char *scenario, const char *yaml) {
    memset(m, 0, sizeof *m);
    m->now_ns = EPOCH_NS;
    m->options = (struct options){.pmu = PMU_SIM,
                                  .scenario = scenario,
                                  .paths = {.data = ".", .sysfs = "/sys", .procfs = "/proc"},
                                  .replay.speed = 1};
    write_config(m, yaml);
    measuring_forget(m);
    int r = setup_init(&m->setup, &m->options, &m->errors);
    if (r < 0)
        print_error("%s\n", m->errors.items[0].text);
    assert_int_equal(r, 0);
    assert_int_equal(m->setup.n_types, 1);
    struct source *source = m->setup.types[0].source;
    m->inner = source->driver;
    m->driver = *source->driver;
    m->driver.pmu = wrapped_pmu;
    m->driver.topology_update = wrapped_update;
    m->driver.watchdog_on = wrapped_watchdog;
    source->driver = &m->driver;
    m->clocks = (struct clocks){virtual_now_ns, virtual_cpu_ns, virtual_realtime, m};
}

struct scenario *measuring_scenario(struct measuring *m) {
    return ((struct source_sim *)m->setup.types[0].source)->scenario;
}

struct scenario_rival *measuring_add_rival(struct measuring *m, enum scenario_rival_kind kind, unsigned counters,
                                           const char *cpus, double from_seconds, double until_seconds) {
    struct scenario *scenario = measuring_scenario(m);
    struct scenario_rival *rivals = realloc(scenario->rivals, (scenario->n_rivals + 1) * sizeof *rivals);
    assert_non_null(rivals);
    scenario->rivals = rivals;
    struct scenario_rival *rival = &rivals[scenario->n_rivals++];
    *rival = (struct scenario_rival){
        .kind = kind, .counters = counters, .from_seconds = from_seconds, .until_seconds = until_seconds};
    assert_int_equal(cpuset_parse(cpus, &rival->cpus), 0);
    return rival;
}

int measuring_new(struct measuring *m) {
    self_init(&m->self, &m->clocks, m->setup.types[0].topology->n_cpus, m->now_ns);
    const struct measure_request request = {
        .setup = &m->setup, .type = &m->setup.types[0], .self = &m->self, .seed = 7, .now_ns = m->now_ns};
    m->deadline_ns = m->now_ns;
    FILE *before = begin_log(m);
    int r = measure_new(&request, &m->errors, &m->engine);
    end_log(before);
    return r;
}

void measuring_start(struct measuring *m) { assert_int_equal(measuring_new(m), 0); }

void measuring_stop(struct measuring *m) {
    snapshot_unref(m->snapshot);
    view_unref(m->view);
    if (m->engine)
        m->engine->ops->free(m->engine);
    assert_int_equal(m->recorder.n_open, 0);
    free(m->recorder.calls);
    topology_free(m->arriving);
    setup_deinit(&m->setup);
    remove_config(m);
    (void)fclose(m->log);
    free(m->logged);
}

// ---- steps ----

enum measure_state measuring_state(const struct measuring *m) { return ((const struct measure *)m->engine)->state; }

double measuring_seconds(const struct measuring *m) { return (double)(m->now_ns - EPOCH_NS) * 1e-9; }

size_t measuring_held(const struct measuring *m) {
    size_t n = 0;
    for (size_t i = 0; i < HANDLES_MAX; i++)
        n += m->recorder.open[i] && m->recorder.enabled[i];
    return n;
}

const struct plan *measuring_plan(const struct measuring *m) { return m->engine->ops->view(m->engine)->layout->plan; }

// What each state has and holds.
static void check_state(const struct measuring *m) {
    const struct measure *inside = (const struct measure *)m->engine;
    enum measure_state state = inside->state;
    bool samples = state == MEASURE_MEASURING || state == MEASURE_LOOKING;
    bool probes = state == MEASURE_FINDING || state == MEASURE_PROBING;
    assert_int_equal(collector_sampler(inside->collector) != NULL, samples);
    assert_int_equal(collector_is_probing(inside->collector), probes);
    assert_int_equal(m->engine->ops->view(m->engine) == NULL, state == MEASURE_FINDING);
    if (state == MEASURE_YIELDED)
        assert_int_equal(measuring_held(m), 0);
    if (state == MEASURE_LOOKING)
        assert_true(m->deadline_ns == m->now_ns); // at once
    else
        assert_true(m->deadline_ns > m->now_ns); // never a busy loop
}

static void take_snapshot(struct measuring *m, struct snapshot *snapshot) {
    struct view *view = m->engine->ops->view(m->engine);
    if (view && view != m->view) {
        m->n_plans += !m->view || view->layout != m->view->layout;
        view_unref(m->view);
        m->view = view_ref(view);
    }
    if (!snapshot)
        return;
    assert_ptr_equal(snapshot->layout, view->layout); // a snapshot is shown with its own view
    snapshot_unref(m->snapshot);
    m->snapshot = snapshot;
    m->n_snapshots++;
}

int measuring_step_late(struct measuring *m, uint64_t late_ns) {
    struct snapshot *snapshot = NULL;
    bool probed = measuring_state(m) == MEASURE_PROBING;
    m->now_ns = (m->deadline_ns > m->now_ns ? m->deadline_ns : m->now_ns) + late_ns;
    FILE *before = begin_log(m);
    int r = m->engine->ops->step(m->engine, m->now_ns, &m->deadline_ns, &snapshot);
    end_log(before);
    if (r < 0) {
        snapshot_unref(snapshot);
        return r;
    }
    take_snapshot(m, snapshot);
    check_state(m);
    m->n_probes += !probed && measuring_state(m) == MEASURE_PROBING;
    return 0;
}

void measuring_step(struct measuring *m) { assert_int_equal(measuring_step_late(m, 0), 0); }

void measuring_run_until(struct measuring *m, double seconds) {
    while (m->deadline_ns < EPOCH_NS + (uint64_t)(seconds * 1e9))
        measuring_step(m);
}

void measuring_reach(struct measuring *m, enum measure_state state) {
    double until = measuring_seconds(m) + 60;
    while (measuring_state(m) != state) {
        measuring_step(m);
        assert_true(measuring_seconds(m) < until);
    }
}

int measuring_yield(struct measuring *m, double seconds) {
    FILE *before = begin_log(m);
    int r = m->engine->ops->yield(m->engine, m->now_ns, seconds);
    end_log(before);
    if (r < 0)
        return r;
    if (seconds > 0)
        assert_int_equal(measuring_held(m), 0); // at once
    m->deadline_ns = m->now_ns;
    measuring_step(m);
    return 0;
}
