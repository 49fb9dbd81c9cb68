// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/source_vendor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "config/vendor/perf_json.h"
#include "daemon/base/log.h"
#include "daemon/source/data.h"

enum { WARNINGS_MAX = 3 };

static int load_perf(const struct vendor_request *request, bool perfmon, struct errors *errors,
                     struct catalog_builder **out) {
    char trees[DATA_PATH_MAX + 64];
    (void)snprintf(trees, sizeof trees, "%s/specs/perf/trees.json", request->data);
    const struct perf_json_request perf = {.path = request->specs->path,
                                           .cpuid = request->cpuid[0] != '\0' ? request->cpuid : NULL,
                                           .trees = trees,
                                           .perfmon = perfmon,
                                           .pmu = request->pmu,
                                           .environment = request->environment,
                                           .all_events = request->all_events};
    return perf_json_read(&perf, errors, out);
}

static int load_arm(const struct vendor_request *request, struct errors *errors, struct catalog_builder **out) {
    char defaults[DATA_PATH_MAX + 64], file[SPEC_PATH_MAX];
    (void)snprintf(defaults, sizeof defaults, "%s/specs/arm/defaults.json", request->data);
    int r = spec_arm_find(request->specs->path, request->cpuid[0] != '\0' ? request->cpuid : NULL, errors, file);
    return r < 0 ? r : spec_json_read_vendor(file, defaults, request->environment, errors, out);
}

static int load(const struct vendor_request *request, struct errors *errors, struct catalog_builder **out) {
    enum spec_format format = request->specs->format;
    if (format == SPEC_FORMAT_ANY)
        format = spec_format_guess(request->specs->path, errors);
    if (format == SPEC_FORMAT_ANY)
        return -EINVAL;
    return format == SPEC_FORMAT_ARM ? load_arm(request, errors, out)
                                     : load_perf(request, format == SPEC_FORMAT_PERFMON, errors, out);
}

// A vendor's tree may have many small mistakes that do not concern this host's owner, so by default only a few are
// shown. check-config shows all: its user may be writing a spec.
static void warn(const struct errors *found, bool all) {
    char line[ERROR_LINE_MAX];
    size_t shown = all || found->n < WARNINGS_MAX ? found->n : WARNINGS_MAX;
    for (size_t i = 0; i < shown; i++) {
        error_format(&found->items[i], line, sizeof line);
        log_warning("%s", line);
    }
    size_t rest = found->n + found->dropped - shown;
    if (rest > 0)
        log_warning("and %zu more of the files' entries that are wrong: they are left out%s", rest,
                    all ? "" : "; topdownd check-config shows more");
}

static int vendor_fail(const struct config_origin *origin, const struct errors *found, struct errors *errors) {
    for (size_t i = 0; i < found->n; i++) {
        const struct error *error = &found->items[i];
        (void)errors_add(errors, origin->file, origin->line, origin->column, "specs.path: %.200s%s%s", error->file,
                         error->file[0] != '\0' ? ": " : "", error->text);
    }
    errors->passing = errors->passing || found->passing;
    return -EINVAL;
}

int source_vendor_read(const struct vendor_request *request, struct errors *errors, char *reason, size_t reason_size,
                       struct catalog_builder **out) {
    struct errors found = {0};
    struct catalog_builder *builder;
    int r = load(request, &found, &builder);
    if (r == -EINVAL)
        return vendor_fail(&request->specs->origin, &found, errors);
    if (r == -ENOENT) {
        const struct error *last = &found.items[found.n - 1];
        (void)snprintf(reason, reason_size, "%s: %s", last->file, last->text);
        return 1;
    }
    if (r < 0)
        return r;
    warn(&found, request->all_warnings);
    if (catalog_builder_catalog(builder)->n_groups == 0) {
        (void)snprintf(reason, reason_size, "%s: has no metrics for this CPU", request->specs->path);
        catalog_builder_free(builder);
        return 1;
    }
    *out = builder;
    return 0;
}

// Copies a pattern such as GenuineIntel-6-6[AC] with the first character of each bracket; false if the result is not a
// single CPU.
static bool example_of(const char *pattern, char *out, size_t size) {
    size_t length = 0;
    for (const char *c = pattern; *c != '\0' && length + 1 < size; c++) {
        if (strchr("(){}*+?|.\\^$", *c) || (*c == '[' && (c[1] == '[' || c[1] == '^' || !strchr(c, ']'))))
            return false;
        if (*c == '[')
            out[length++] = c[1];
        else
            out[length++] = *c;
        if (*c == '[')
            c = strchr(c, ']');
    }
    out[length] = '\0';
    return true;
}

void source_vendor_cpuid(const struct cpu_map *cpus, const char *spec, char *out, size_t size) {
    out[0] = '\0';
    for (size_t i = 0; i < cpus->n; i++) {
        const struct cpu_row *row = &cpus->rows[i];
        if (strcmp(row->spec, spec) != 0)
            continue;
        if (row->n_midrs > 0)
            (void)snprintf(out, size, "0x%016" PRIx64, (uint64_t)row->midrs[0]);
        for (size_t k = 0; k < row->n_cpuids && out[0] == '\0'; k++)
            if (!example_of(row->cpuids[k], out, size))
                out[0] = '\0';
        return;
    }
}
