// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/eval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/vendor/metric_list.h"
#include "daemon/base/log.h"
#include "daemon/base/terminal.h"
#include "exporters/text/json_writer.h"

enum { EXIT_WRONG = 2 };

// The output: the document, and the key being written.
struct printed {
    struct json json;
    struct text key;
};

static void add_value(struct printed *printed, const char *name, const char *mark, const char *suffix, double value) {
    struct text *key = &printed->key;
    key->length = 0;
    text_string(key, name);
    text_string(key, mark);
    text_string(key, suffix);
    text_append(key, "", 1);
    json_exact(&printed->json, key->failed ? "" : key->data, value);
}

// Adds the keys of metric i. `names` finds the first metric of each name.
static void add_metric(struct printed *out, const struct metric_list *list, size_t i, bool scaled,
                       const struct name_index *names) {
    const struct evaluation_metric *metric = &list->metrics[i];
    size_t twin = 0, same = 1; // same-named metrics: of other PMUs; of this PMU, up to this one
    bool repeated = false;
    double value = scaled ? metric->value * list->scales[i] : metric->value;
    size_t first = (size_t)name_index_find(names, metric->name, strlen(metric->name), false);
    for (size_t j = first; j < list->n; j++) {
        const struct evaluation_metric *other = &list->metrics[j];
        if (j == i || strcmp(other->name, metric->name) != 0)
            continue;
        bool same_pmu = strcmp(other->pmu, metric->pmu) == 0;
        twin += !same_pmu;
        same += same_pmu && j < i;
        repeated = repeated || (same_pmu && j < i && strcmp(other->text, metric->text) == 0);
    }
    if (repeated)
        return;
    char number[24];
    (void)snprintf(number, sizeof number, "%zu", same);
    if (first == i)
        add_value(out, metric->name, "", "", value);
    if (twin > 0 && same == 1)
        add_value(out, metric->name, "@", metric->pmu, value);
    if (same > 1)
        add_value(out, metric->name, "#", number, value);
}

static int print(const struct metric_list *list, bool scaled) {
    struct text text = {.data = NULL};
    struct name_index names = {.n = 0};
    int r = 0;
    for (size_t i = 0; i < list->n && r == 0; i++)
        if (name_index_find(&names, list->metrics[i].name, strlen(list->metrics[i].name), false) < 0)
            r = name_index_add(&names, list->metrics[i].name, (unsigned)i);
    struct printed out = {.json = json_begin(&text, JSON_SPACED), .key = {.data = NULL}};
    json_begin_object(&out.json, NULL);
    for (size_t i = 0; i < list->n && r == 0; i++)
        add_metric(&out, list, i, scaled, &names);
    json_end_object(&out.json);
    int ended = json_end(&out.json);
    r = r < 0 ? r : out.key.failed ? -ENOMEM : ended;
    r = r == 0 ? terminal_print(&text) : r;
    name_index_deinit(&names);
    text_free(&out.key);
    text_free(&text);
    return r;
}

static int evaluate(const struct options *options, struct metric_list *list, const struct evaluation_counts *counts,
                    bool *wrong) {
    int r = evaluation_run(list->metrics, list->n, counts, options->eval.cpuid);
    for (size_t i = 0; i < list->n && r == 0; i++) {
        if (list->metrics[i].error[0] == '\0')
            continue;
        (void)fprintf(stderr, "topdownd: %s: %s\n", list->metrics[i].name, list->metrics[i].error);
        *wrong = true;
    }
    return r == 0 ? print(list, options->eval.scaled) : r;
}

int eval_run(const struct options *options) {
    struct errors errors = {.n = 0};
    struct metric_list list = {.n = 0};
    struct evaluation_counts counts = {.n = 0};
    bool wrong = false;
    int r = metric_counts_load(options->eval.counts, &errors, &counts);
    int loaded = metric_list_load(options->spec, options->eval.format, options->eval.cpuid, &errors, &list);
    r = r < 0 ? r : loaded;
    log_errors(&errors);
    int status = r < 0 ? EXIT_WRONG : EXIT_SUCCESS;
    if (r == 0) {
        wrong = errors.n > 0;
        r = evaluate(options, &list, &counts, &wrong);
        status = r != 0 ? EXIT_WRONG : wrong ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (r == -ENOMEM)
        (void)fputs("topdownd: memory is short\n", stderr);
    metric_list_deinit(&list);
    evaluation_counts_deinit(&counts);
    return status;
}
