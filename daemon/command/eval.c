// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/eval.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/vendor/metric_list.h"
#include "daemon/base/log.h"
#include "exporters/view/text.h"

enum { EXIT_WRONG = 2 };

static void append_value(struct text *out, const char *name, const char *mark, const char *suffix, double value) {
    static const struct text_escape escapes[] = {{'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"},
                                                 {'\t', "\\t"}, {'\r', "\\r"},  {0, NULL}};
    text_string(out, out->length > 1 ? ",\n \"" : "\n \"");
    text_escaped(out, name, escapes);
    text_string(out, mark);
    text_escaped(out, suffix, escapes);
    if (isfinite(value))
        text_format(out, "\": %.17g", value);
    else
        text_string(out, "\": null");
}

// The keys of metric i. `names` finds the first metric of each name.
static void append_metric(struct text *out, const struct metric_list *list, size_t i, bool scaled,
                          const struct name_index *names) {
    const struct evaluation_metric *metric = &list->metrics[i];
    size_t twin = 0, same = 1; // of other PMUs; of this one, up to this one
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
        append_value(out, metric->name, "", "", value);
    if (twin > 0 && same == 1)
        append_value(out, metric->name, "@", metric->pmu, value);
    if (same > 1)
        append_value(out, metric->name, "#", number, value);
}

static int print(const struct metric_list *list, bool scaled) {
    struct text out = {.data = NULL};
    struct name_index names = {.n = 0};
    int r = 0;
    for (size_t i = 0; i < list->n && r == 0; i++)
        if (name_index_find(&names, list->metrics[i].name, strlen(list->metrics[i].name), false) < 0)
            r = name_index_add(&names, list->metrics[i].name, (unsigned)i);
    text_string(&out, "{");
    for (size_t i = 0; i < list->n && r == 0; i++)
        append_metric(&out, list, i, scaled, &names);
    text_string(&out, "\n}\n");
    if (r == 0 && out.failed)
        r = -ENOMEM;
    if (r == 0 && (fwrite(out.data, 1, out.length, stdout) != out.length || fflush(stdout) != 0))
        r = -errno;
    name_index_deinit(&names);
    text_free(&out);
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
        status = r < 0 || wrong ? EXIT_FAILURE : EXIT_SUCCESS;
    }
    if (r == -ENOMEM)
        (void)fputs("topdownd: memory is short\n", stderr);
    else if (r < 0 && r != -EINVAL)
        (void)fprintf(stderr, "topdownd: the result cannot be written: %s\n", strerror(-r));
    metric_list_deinit(&list);
    evaluation_counts_deinit(&counts);
    return status;
}
