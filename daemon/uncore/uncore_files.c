// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_files.h"

#include <stdio.h>
#include <string.h>

#include "collectors/uncore/uncore_find.h"
#include "daemon/uncore/uncore_source.h"

double uncore_files_per_package(const struct uncore_boxes *boxes) {
    size_t packages = 0;
    for (size_t i = 0; i < boxes->n; i++) // they are sorted by socket
        packages += i == 0 || boxes->boxes[i].place.package != boxes->boxes[i - 1].place.package;
    return (double)boxes->n / (double)packages;
}

// "hisi_sicl,cpa" of the files is hisi_sicl2_cpa0 and more.
static void pattern_of(const char *pmu, bool numbered, char *out, size_t size) {
    const char *comma = strchr(pmu, ',');
    if (comma)
        (void)snprintf(out, size, "%.*s[0-9]*_%s[0-9]*", (int)(comma - pmu), pmu, comma + 1);
    else
        (void)snprintf(out, size, numbered ? "%s_[0-9]*" : "%s", pmu);
}

int uncore_files_find(const struct uncore_files *files, const char *pmu, struct uncore_boxes *out) {
    char pattern[2 * PERF_PMU_MAX];
    int r = 0;
    *out = (struct uncore_boxes){0};
    for (int numbered = 0; numbered < 2 && r == 0 && out->n == 0; numbered++) {
        pattern_of(pmu, numbered == 1, pattern, sizeof pattern);
        r = uncore_find_named(&files->roots, pattern, out);
    }
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if (!config_uncore_leaves_out(&files->setup->config->uncore, out->boxes[i].pmu))
            out->boxes[kept++] = out->boxes[i];
    out->n = kept;
    return r;
}

int uncore_files_add(const struct uncore_files *files, struct uncore_linux *kind, struct catalog_builder *builder) {
    struct topology *boxes = NULL;
    kind->source.vendors = true;
    kind->source.making.vendor_pmu = kind->name;
    int r = uncore_linux_bind(kind, builder);
    if (r == 0)
        r = uncore_topology(&kind->boxes, &boxes);
    if (r < 0) {
        source_free(&kind->source);
        return r;
    }
    return uncore_add(files->setup, &kind->source, boxes, false);
}
