// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include <cjson/cJSON.h>
#include <dirent.h>

#include "config/spec/spec_json.h"
#include "core/adapt/adapt.h"
#include "core/diagnosis/bound.h"
#include "exporters/json/json.h"

// On every shipped spec, for any values: JSON's tree, its answer and the adaptive schedule agree.

enum { GROUPS_MAX = 8, ROUNDS_HIGH = 3, ROUNDS_LOW = 10 };
enum { SAYS_NO, SAYS_YES, SAYS_NULL, SAYS_NOTHING };

struct run {
    struct catalog *catalog;
    struct plan_selection selections[GROUPS_MAX];
    size_t n;
    struct snapshot_layout *layout;
    struct diagnosis *diagnosis;
    struct adapt *adapt;
    uint64_t now_ns;
    unsigned char *says; // what JSON says of each metric
};

static bool group_has(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

static bool holds_category(const struct catalog *catalog, const struct catalog_group *group) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (is_level1(catalog, group->metrics[i]))
            return true;
    return false;
}

// ---- a plan, and values ----

// Level 1, if there is any, and a few small groups.
static void choose(struct run *run, uint64_t *random) {
    const struct catalog *catalog = run->catalog;
    for (unsigned g = 0; g < catalog->n_groups && run->n == 0; g++)
        if (holds_category(catalog, &catalog->groups[g]) && catalog->groups[g].n_metrics <= 12)
            run->selections[run->n++] = (struct plan_selection){.group = g};
    for (int tries = 0; tries < 12 && run->n < GROUPS_MAX; tries++) {
        unsigned group = (unsigned)random_below(random, catalog->n_groups);
        bool there = catalog->groups[group].n_metrics > 12; // packing many takes long
        for (size_t s = 0; s < run->n; s++)
            there = there || run->selections[s].group == group;
        if (!there)
            run->selections[run->n++] = (struct plan_selection){.group = group};
    }
}

static void begin(struct run *run, const char *path, uint64_t *random) {
    struct errors errors = {0};
    *run = (struct run){0};
    assert_int_equal(spec_json_load(path, NULL, &errors, &run->catalog), 0);
    choose(run, random);
    run->layout = build_layout(plan_of(run->catalog, run->catalog->general_counters, 0.1, run->selections, run->n),
                               build_cpus(0, 1, 1));
    assert_non_null(run->layout);
    run->says = calloc(run->catalog->n_metrics + 1, 1);
    assert_non_null(run->says);
}

static void end(struct run *run) {
    free(run->says);
    snapshot_layout_unref(run->layout);
    catalog_free(run->catalog);
}

// Shares around their usual thresholds, some missing, some without an interval.
static struct snapshot *random_values(const struct run *run, uint64_t *random) {
    struct snapshot *snapshot = snapshot_new(run->layout);
    double level = 1.5 * random_unit(random);
    assert_non_null(snapshot);
    for (size_t i = 0; i < run->layout->n_metrics; i++) {
        double value = level * random_unit(random), margin = 0.3 * value * random_unit(random);
        if (random_below(random, 8) == 0)
            continue;
        snapshot->values[snapshot_metric(run->layout, 0, i)] = value;
        if (random_below(random, 8) == 0)
            continue;
        snapshot->values[snapshot_low(run->layout, 0, i)] = value - margin;
        snapshot->values[snapshot_high(run->layout, 0, i)] = value + margin;
    }
    return snapshot;
}

static void rounds(struct run *run, struct snapshot *snapshot, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        snapshot->start_ns = run->now_ns;
        snapshot->end_ns = run->now_ns += UINT64_C(2000000000);
        snapshot->taken_seconds = (double)run->now_ns * 1e-9;
        diagnosis_round(run->diagnosis, snapshot);
    }
}

// ---- what JSON says ----

static unsigned char answer_of(const cJSON *object, const char *key) {
    const cJSON *item = cJSON_GetObjectItem(object, key);
    assert_non_null(item);
    return cJSON_IsNull(item) ? SAYS_NULL : cJSON_IsTrue(item) ? SAYS_YES : SAYS_NO;
}

static void read_nodes(struct run *run, const cJSON *nodes) {
    const cJSON *node;
    cJSON_ArrayForEach(node, nodes) {
        int metric = catalog_find_metric(run->catalog, cJSON_GetObjectItem(node, "name")->valuestring);
        assert_true(metric >= 0);
        run->says[metric] = answer_of(node, "exceeded");
        if (run->says[metric] == SAYS_NULL)
            assert_int_equal(answer_of(node, "exceeded_certain"), SAYS_NULL);
        read_nodes(run, cJSON_GetObjectItem(node, "children"));
    }
}

static unsigned find_exported(const struct catalog *catalog, const char *name) {
    unsigned metric = 0;
    while (metric < catalog->n_metrics && strcmp(catalog->metrics[metric].export_name, name) != 0)
        metric++;
    assert_true(metric < catalog->n_metrics);
    return metric;
}

// Every node of the path is above its threshold; or the path is one node, and no root is above its own.
static void check_bound(const struct run *run, const cJSON *bound) {
    if (cJSON_IsNull(bound))
        return;
    const cJSON *name, *path = cJSON_GetObjectItem(bound, "path");
    unsigned char exceeded = answer_of(bound, "exceeded");
    if (exceeded != SAYS_YES)
        assert_int_equal(cJSON_GetArraySize(path), 1);
    cJSON_ArrayForEach(name, path) {
        unsigned char says = run->says[find_exported(run->catalog, name->valuestring)];
        assert_int_equal(exceeded == SAYS_YES, says == SAYS_YES);
    }
}

static void read_json(struct run *run, struct snapshot *snapshot) {
    struct view view = {.layout = run->layout, .pmu = "cpu"};
    struct text text = {0};
    assert_int_equal(bound_fill(snapshot), 0);
    assert_int_equal(json_render_topdown(&(struct shown){.n = 1, .types = {{.view = &view, .snapshot = snapshot}}}, 0,
                                         JSON_HOST, &text),
                     0);
    text_append(&text, "", 1);
    assert_false(text.failed);
    cJSON *root = cJSON_Parse(text.data);
    assert_non_null(root);
    memset(run->says, SAYS_NOTHING, run->catalog->n_metrics);
    read_nodes(run, cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "scopes"), 0), "tree"));
    check_bound(run, cJSON_GetObjectItem(root, "bound"));
    cJSON_Delete(root);
    text_free(&text);
}

// ---- they agree ----

static bool leads_to(const struct catalog *catalog, const struct catalog_node *node, unsigned group) {
    for (size_t i = 0; i < node->n_next; i++) {
        int metric = catalog_find_metric(catalog, node->next[i].name);
        if (catalog_find_group(catalog, node->next[i].name) == (int)group ||
            (metric >= 0 && group_has(&catalog->groups[group], (unsigned)metric)))
            return true;
    }
    return false;
}

// Checks after three rounds that began without memory. Returns the number of raised metric groups.
static unsigned check_raised(const struct run *run) {
    const struct catalog *catalog = run->catalog;
    unsigned n_raised = 0;
    for (size_t s = 0; s < run->n; s++) {
        unsigned group = run->selections[s].group;
        bool level1 = holds_category(catalog, &catalog->groups[group]), wanted = false;
        for (size_t i = 0; i < catalog->n_nodes; i++)
            wanted = wanted || (!level1 && leads_to(catalog, &catalog->nodes[i], group) &&
                                run->says[catalog->nodes[i].metric] == SAYS_YES);
        bool raised = adapt_raised(run->adapt)[s];
        unsigned char because = raised ? run->says[adapt_report(run->adapt)->groups[s].metric] : SAYS_NOTHING;
        assert_true(raised || !wanted);
        assert_true(!raised || because == SAYS_YES || because == SAYS_NOTHING); // nothing: no node of what is measured
        n_raised += raised;
    }
    return n_raised;
}

// A node that is not high in JSON, even with all values this much larger or smaller, does not stay high.
static void check_fallen(struct run *run, struct snapshot *snapshot) {
    static const double factors[] = {1, 1.25, 0.64}; // together with what it was: 1, 1/0.8 and 0.8
    const struct catalog *catalog = run->catalog;
    bool *low = calloc(catalog->n_metrics, sizeof *low);
    assert_non_null(low);
    rounds(run, snapshot, ROUNDS_LOW);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        low[m] = true;
    for (size_t f = 0; f < N_OF(factors); f++) {
        for (size_t i = 0; i < run->layout->n_metrics; i++)
            snapshot->values[snapshot_metric(run->layout, 0, i)] *= factors[f];
        read_json(run, snapshot);
        for (size_t m = 0; m < catalog->n_metrics; m++)
            low[m] = low[m] && run->says[m] == SAYS_NO;
    }
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        assert_false(low[m] && diagnosis_high(run->diagnosis, m));
    free(low);
}

static unsigned try(struct run *run, uint64_t *random) {
    struct snapshot *first = random_values(run, random), *second = random_values(run, random);
    run->diagnosis = diagnosis_new(run->layout);
    assert_non_null(run->diagnosis);
    assert_int_equal(adapt_new(run->catalog, run->selections, run->n, &run->adapt), 0);
    rounds(run, first, ROUNDS_HIGH);
    read_json(run, first);
    for (size_t i = 0; i < run->catalog->n_nodes; i++) {
        unsigned metric = run->catalog->nodes[i].metric;
        if (run->says[metric] != SAYS_NOTHING)
            assert_int_equal(diagnosis_high(run->diagnosis, metric), run->says[metric] == SAYS_YES);
    }
    (void)adapt_round(run->adapt, run->diagnosis, first);
    unsigned raised = check_raised(run);
    check_fallen(run, second);
    adapt_free(run->adapt);
    diagnosis_free(run->diagnosis);
    snapshot_unref(second);
    snapshot_unref(first);
    return raised;
}

static bool is_spec(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0 && strcmp(name, "cpus.json") != 0;
}

static void test_on_every_spec_json_and_the_adaptive_schedule_say_the_same(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct dirent **entries;
    unsigned raised = 0, specs = 0;
    int n = scandir("specs", &entries, NULL, alphasort);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        struct run run;
        char path[512];
        (void)snprintf(path, sizeof path, "specs/%s", entries[i]->d_name);
        bool spec = is_spec(entries[i]->d_name);
        free(entries[i]);
        if (!spec)
            continue;
        begin(&run, path, &random);
        for (int tries = 0; tries < 20; tries++)
            raised += try(&run, &random);
        end(&run);
        specs++;
    }
    free(entries);
    print_message("%u metric groups were raised on %u specs\n", raised, specs);
    assert_true(raised > specs); // else nothing was tested
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_every_spec_json_and_the_adaptive_schedule_say_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
