// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <unistd.h>

#include "core/formula/formula.h"

// Every MetricExpr and MetricThreshold of the vendors' files for Linux compiles, and has the value that
// evaluate_perf.py, an evaluator in another language, computes for random counts. The scope knows every name.

#define LINUX_FOLDER "../shared/telemetry/linux"

enum { TRIALS = 4, NAMES_MAX = 512, EXPRESSIONS_MIN = 4800 };

// The values of one trial, by the name as evaluate_perf.py has it.
struct trial {
    uint64_t random;
    cJSON *values;
    double events[NAMES_MAX];
    unsigned n;
};

struct comparison {
    uint64_t random;
    FILE *tasks;
    char **texts; // of each value
    double *values;
    size_t n, n_expressions;
};

static struct comparison *comparing; // nftw has no argument for its function

static double value_random(uint64_t *random) {
    uint64_t dice = random_below(random, 16);
    return dice == 0 ? NAN : dice < 4 ? (double)random_below(random, 2) : (double)random_below(random, 1000000);
}

static int lookup(void *context, enum formula_name_kind kind, const char *name, size_t length,
                  struct formula_symbol *out) {
    static const char *const formats[] = {
        "%.*s", "#%.*s", "has_event(%.*s)", "source_count(%.*s)", "aggr_nr(%.*s)", "strcmp_cpuid_str(%.*s)"};
    struct trial *trial = context;
    char key[512];
    assert_in_range(snprintf(key, sizeof key, formats[kind], (int)length, name), 1, sizeof key - 1);
    const cJSON *known = cJSON_GetObjectItemCaseSensitive(trial->values, key);
    double value = kind == FORMULA_ID ? value_random(&trial->random) : (double)random_below(&trial->random, 3);
    if (known)
        value = known->valuedouble;
    else
        assert_non_null(cJSON_AddNumberToObject(trial->values, key, value)); // NaN is printed as null
    *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_NUMBER, .number = value};
    if (kind == FORMULA_ID) {
        assert_true(trial->n < NAMES_MAX);
        *out = (struct formula_symbol){.kind = FORMULA_SYMBOL_EVENT, .index = trial->n};
        trial->events[trial->n++] = value;
    }
    return 0;
}

static void task_write(FILE *out, const char *text, const cJSON *values) {
    cJSON *task = cJSON_CreateObject();
    assert_non_null(cJSON_AddStringToObject(task, "text", text));
    assert_true(cJSON_AddItemReferenceToObject(task, "values", (cJSON *)values));
    char *line = cJSON_PrintUnformatted(task);
    assert_non_null(line);
    fprintf(out, "%s\n", line);
    free(line);
    cJSON_Delete(task);
}

static void expression_try(struct comparison *comparison, const char *path, const char *text) {
    struct trial trial = {.random = random_next(&comparison->random), .values = cJSON_CreateObject()};
    const struct formula_scope scope = {.lookup = lookup, .context = &trial};
    struct formula *formula = NULL;
    struct fault error;
    if (formula_compile(text, &scope, &formula, &error) != 0)
        fail_msg("%s: %s: column %zu: %s", path, text, error.column, error.text);
    comparison->texts = realloc(comparison->texts, (comparison->n + 1) * sizeof *comparison->texts);
    comparison->values = realloc(comparison->values, (comparison->n + 1) * sizeof *comparison->values);
    assert_true(comparison->texts && comparison->values);
    comparison->texts[comparison->n] = strdup(text);
    comparison->values[comparison->n++] = formula_evaluate(formula, trial.events, NULL);
    task_write(comparison->tasks, text, trial.values);
    formula_free(formula);
    cJSON_Delete(trial.values);
}

static cJSON *file_parse(const char *path, size_t size) {
    FILE *in = fopen(path, "r");
    char *text = calloc(size + 1, 1);
    assert_true(in && text);
    assert_int_equal(fread(text, 1, size, in), size);
    fclose(in);
    cJSON *root = cJSON_Parse(text);
    free(text);
    return root;
}

static int file_try(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)walk;
    size_t length = strlen(path);
    if (type != FTW_F || length < 5 || strcmp(path + length - 5, ".json") != 0)
        return 0;
    cJSON *root = file_parse(path, (size_t)status->st_size);
    const cJSON *entry;
    cJSON_ArrayForEach(entry, root) {
        for (int i = 0; i < 2; i++) {
            const char *key = i == 0 ? "MetricExpr" : "MetricThreshold";
            const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, key));
            comparing->n_expressions += text != NULL;
            for (int trial = 0; trial < TRIALS && text; trial++)
                expression_try(comparing, path, text);
        }
    }
    cJSON_Delete(root);
    return 0;
}

// Compares with what the other evaluator prints; returns how many values are finite.
static size_t compare(struct comparison *comparison, const char *tasks_path) {
    char command[256], line[64];
    (void)snprintf(command, sizeof command, "python3 tests/unit/evaluate_perf.py < %s", tasks_path);
    FILE *results = popen(command, "r");
    assert_non_null(results);
    size_t finite = 0;
    for (size_t i = 0; i < comparison->n; i++) {
        assert_non_null(fgets(line, sizeof line, results));
        double wanted = strtod(line, NULL), value = comparison->values[i];
        finite += isfinite(wanted) ? 1 : 0;
        if (isfinite(wanted) ? value != wanted : !isnan(value))
            fail_msg("%s: %.17g, not %s", comparison->texts[i], value, line);
        free(comparison->texts[i]);
    }
    assert_null(fgets(line, sizeof line, results));
    assert_int_equal(pclose(results), 0);
    return finite;
}

static void test_every_expression_of_linux_is_worth_what_another_evaluator_finds(void **state) {
    (void)state;
    if (access(LINUX_FOLDER, R_OK) != 0) {
        print_message("skipped: %s is not there\n", LINUX_FOLDER);
        skip();
    }
    char tasks_path[] = "/tmp/topdownd-formulas-XXXXXX";
    int fd = mkstemp(tasks_path);
    assert_true(fd >= 0);
    struct comparison comparison = {.random = seed_begin(), .tasks = fdopen(fd, "w")};
    assert_non_null(comparison.tasks);
    comparing = &comparison;
    assert_int_equal(nftw(LINUX_FOLDER, file_try, 16, FTW_PHYS), 0);
    assert_int_equal(fclose(comparison.tasks), 0);
    size_t finite = compare(&comparison, tasks_path);
    print_message("%zu expressions, %zu values, %zu of them finite\n", comparison.n_expressions, comparison.n, finite);
    assert_true(comparison.n_expressions >= EXPRESSIONS_MIN);
    assert_true(finite > comparison.n / 3);
    assert_int_equal(unlink(tasks_path), 0);
    free(comparison.texts);
    free(comparison.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_expression_of_linux_is_worth_what_another_evaluator_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
