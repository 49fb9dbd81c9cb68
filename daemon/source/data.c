// SPDX-License-Identifier: Apache-2.0
#include "daemon/source/data.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/spec/cpu_map_json.h"
#include "config/spec/earlier_json.h"
#include "config/spec/spec_json.h"

static bool has_specs(const char *folder) {
    char path[DATA_PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/specs", folder);
    return length > 0 && (size_t)length < sizeof path && access(path, R_OK | X_OK) == 0;
}

int data_find(const char *given, char *out, size_t size, struct errors *errors) {
    if (given) {
        if (!has_specs(given))
            return errors_add(
                errors, given, 0, 0,
                "has no readable folder specs: give --path.data the folder that holds specs/ and scenarios/");
        (void)snprintf(out, size, "%s", given);
        return 0;
    }
    char program[DATA_PATH_MAX - 64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        static const char *const beside[] = {"../share/topdownd", "../.."};
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            (void)snprintf(out, size, "%s/%s", program, beside[i]);
            if (has_specs(out))
                return 0;
        }
    }
    return errors_add(
        errors, NULL, 0, 0,
        "cannot find the specs that ship with topdownd: give --path.data the folder that holds specs/ and scenarios/");
}

static int is_json(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".json") == 0 &&
           strcmp(entry->d_name, "cpus.json") != 0; // which spec is for which CPU
}

// Every spec that the map names must exist.
static int check_map(const struct specs *specs, const char *path, struct errors *errors) {
    int r = 0;
    for (size_t i = 0; i < specs->cpus.n; i++)
        if (!specs_has(specs, specs->cpus.rows[i].spec))
            r = errors_add(errors, path, 0, 0, "cpus[%zu] names the spec %.60s, which is not beside it", i,
                           specs->cpus.rows[i].spec);
    return r;
}

// Adds the names of the folder's JSON files, without the ending and in order, to `names`, of which there are `*n`
// afterwards, whatever it returns.
static int list_folder(const char *folder, const char *kind, size_t max, struct errors *errors, char **names,
                       size_t *n) {
    struct dirent **entries;
    int found = scandir(folder, &entries, is_json, alphasort), r = 0;
    *n = 0;
    if (found < 0)
        return errors_add_failure(errors, folder, "cannot read the folder", errno);
    for (int i = 0; i < found; i++) {
        if (r == 0 && *n == max)
            r = errors_add(errors, folder, 0, 0, "holds more than %zu %s", max, kind);
        if (r == 0) {
            size_t length = strlen(entries[i]->d_name) - strlen(".json");
            names[*n] = strndup(entries[i]->d_name, length);
            r = names[*n] ? 0 : -ENOMEM;
            *n += r == 0;
        }
        free(entries[i]);
    }
    free(entries);
    return r == 0 && *n == 0 ? errors_add(errors, folder, 0, 0, "holds no %s (*.json)", kind) : r;
}

static void free_names(char **names, size_t n) {
    while (n > 0)
        free(names[--n]);
}

int data_open_specs(const char *data, struct specs *out, struct errors *errors) {
    char path[DATA_PATH_MAX + 32];
    *out = (struct specs){.n = 0};
    (void)snprintf(out->folder, sizeof out->folder, "%s/specs", data);
    (void)snprintf(path, sizeof path, "%s/cpus.json", out->folder);
    int r = list_folder(out->folder, "specs", DATA_SPECS_MAX, errors, out->names, &out->n);
    if (r == 0)
        r = cpu_map_json_load(path, errors, &out->cpus);
    if (r == 0)
        r = check_map(out, path, errors);
    if (r < 0)
        specs_deinit(out);
    return r;
}

void specs_forget(struct specs *specs) {
    for (size_t i = 0; i < specs->n; i++)
        specs->kept[i] = catalog_free(specs->kept[i]);
}

void specs_deinit(struct specs *specs) {
    specs_forget(specs);
    free_names(specs->names, specs->n);
    specs->n = 0;
    cpu_map_deinit(&specs->cpus);
}

int data_list_scenarios(const char *data, struct errors *errors, char *names[DATA_SCENARIOS_MAX]) {
    char folder[DATA_PATH_MAX + 16];
    size_t n;
    (void)snprintf(folder, sizeof folder, "%s/scenarios", data);
    int r = list_folder(folder, "scenarios", DATA_SCENARIOS_MAX, errors, names, &n);
    if (r < 0)
        free_names(names, n);
    return r < 0 ? r : (int)n;
}

// Reports a name that is of none of the scenarios.
static int refuse_scenario(const char *name, char *const *names, size_t n, struct errors *errors) {
    char text[ERROR_TEXT_MAX] = "";
    const char *near = error_suggest(name, (const char *const *)names, n);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return errors_add(
        errors, NULL, 0, 0,
        "there is no ready scenario '%.60s'%s%s%s Those that ship are %s. A file of your own is named with "
        "its folder: sim:./%.60s.json",
        name, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : ".", text, name);
}

int data_find_scenario(const char *data, const char *name, struct errors *errors, char *out, size_t size) {
    char *names[DATA_SCENARIOS_MAX];
    if (strpbrk(name, "/.")) {
        (void)snprintf(out, size, "%s", name);
        return 0;
    }
    int n = data_list_scenarios(data, errors, names), r = 0;
    if (n < 0)
        return n;
    bool found = false;
    for (int i = 0; i < n; i++)
        found = found || strcmp(names[i], name) == 0;
    if (found)
        (void)snprintf(out, size, "%s/scenarios/%s.json", data, name);
    else
        r = refuse_scenario(name, names, (size_t)n, errors);
    free_names(names, (size_t)n);
    return r;
}

bool specs_has(const struct specs *specs, const char *name) {
    for (size_t i = 0; i < specs->n; i++)
        if (strcmp(specs->names[i], name) == 0)
            return true;
    return false;
}

int specs_read(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog_builder **out) {
    char path[DATA_PATH_MAX + 512];
    if (!specs_has(specs, name))
        return errors_add(errors, NULL, 0, 0, "there is no spec '%s' among those that ship with topdownd", name);
    (void)snprintf(path, sizeof path, "%s/%s.json", specs->folder, name);
    return spec_json_read(path, environment, errors, out);
}

int specs_add_software(const struct specs *specs, struct errors *errors, struct catalog_builder *builder) {
    char path[DATA_PATH_MAX + 512];
    const struct catalog_product *product = &catalog_builder_catalog(builder)->product;
    if (!specs_has(specs, SPEC_SOFTWARE) || strcmp(product->pmu, SPEC_SOFTWARE) == 0)
        return 0;
    (void)snprintf(path, sizeof path, "%s/" SPEC_SOFTWARE ".json", specs->folder);
    return spec_json_add(path, errors, builder);
}

static int mark(const struct specs *specs, bool mark, struct errors *errors, struct catalog_builder *builder) {
    char path[DATA_PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/neutral/earlier.json", specs->folder);
    return earlier_json_mark(path, mark, errors, builder);
}

// Returns 1 if the hash is the catalog's, or if it is with the marks, which then stay; else 0.
static int has_hash(const struct specs *specs, uint64_t hash, struct errors *errors, struct catalog_builder *builder) {
    const struct catalog *catalog = catalog_builder_catalog(builder);
    if (catalog_hash(catalog) == hash)
        return 1;
    int r = mark(specs, true, errors, builder);
    if (r < 0 || catalog_hash(catalog) == hash)
        return r < 0 ? r : 1;
    return mark(specs, false, errors, builder);
}

int specs_make_recorded(const struct specs *specs, uint64_t hash, bool marked, struct errors *errors,
                        struct catalog_builder *builder) {
    int r = has_hash(specs, hash, errors, builder);
    if (r == 0)
        r = specs_add_software(specs, errors, builder);
    if (r == 0)
        r = has_hash(specs, hash, errors, builder);
    if (r == 0 && marked)
        r = mark(specs, true, errors, builder);
    return r < 0 ? r : 0;
}

int specs_load(const struct specs *specs, const char *name, const struct environment *environment,
               struct errors *errors, struct catalog **out) {
    struct catalog_builder *builder;
    int r = specs_read(specs, name, environment, errors, &builder);
    if (r == 0)
        *out = catalog_builder_finish(builder);
    return r;
}

const struct catalog *specs_get(struct specs *specs, size_t i) {
    struct errors ignored = {0};
    if (!specs->kept[i])
        (void)specs_load(specs, specs->names[i], NULL, &ignored, &specs->kept[i]);
    return specs->kept[i];
}
