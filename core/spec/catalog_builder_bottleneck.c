// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/catalog_builder_private.h"

// What follows from the values of metrics: headings of what would help how much, and whether work is done well.

static int conclude(struct catalog_builder *builder, struct catalog_conclusion *of, const char *name,
                    const char *formula, struct fault *fault) {
    struct catalog_conclusion made = {.formula = NULL};
    if (of->formula)
        return fault_set(fault, "%s stands twice", name);
    int r = builder_compile_threshold(builder, formula, &made.formula, fault);
    if (r < 0)
        return r;
    if (made.formula->n_variables > 0 || made.formula->n_metrics == 0) {
        formula_free(made.formula);
        return fault_set(fault, "the formula of %s must name metrics, and nothing else", name);
    }
    made.formula_text = strdup(formula);
    if (!made.formula_text) {
        formula_free(made.formula);
        return -ENOMEM;
    }
    *of = made;
    return 0;
}

int catalog_builder_set_bottleneck(struct catalog_builder *builder, enum bottleneck heading, const char *formula,
                                   struct fault *fault) {
    return conclude(builder, &builder->catalog->bottlenecks[heading], bottleneck_table[heading].name, formula, fault);
}

int catalog_builder_set_computes_well(struct catalog_builder *builder, const char *formula, struct fault *fault) {
    return conclude(builder, &builder->catalog->computes_well, "computes_well", formula, fault);
}

int catalog_builder_add_bottleneck_group(struct catalog_builder *builder, struct fault *fault) {
    static const char title[] = "What would help how much",
                      help[] = "All that the headings of what would help how much are made of.";
    const struct catalog *catalog = builder->catalog;
    const char **names = calloc(catalog->n_metrics + 1, sizeof *names);
    size_t n = 0;
    if (!names)
        return -ENOMEM;
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        bool used = false;
        for (size_t i = 0; i < BOTTLENECK_N; i++) {
            const struct formula *formula = catalog->bottlenecks[i].formula;
            for (size_t k = 0; formula && k < formula->n_metrics; k++)
                used = used || formula->metrics[k] == m;
        }
        if (used)
            names[n++] = catalog->metrics[m].name;
    }
    int r = n > 0 ? catalog_builder_add_group(builder, BOTTLENECK_GROUP, title, help, names, n, fault) : 0;
    free(names);
    return r < 0 ? r : 0;
}
