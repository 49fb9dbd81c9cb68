// SPDX-License-Identifier: Apache-2.0
#include "daemon/data.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/spec_json.h"

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

int data_load_specs(const char *data, struct specs *out, struct errors *errors) {
    char folder[DATA_PATH_MAX + 8], path[DATA_PATH_MAX + 512];
    struct dirent **entries;
    struct specs specs = {.n = 0};
    (void)snprintf(folder, sizeof folder, "%s/specs", data);
    int n = scandir(folder, &entries, is_json, alphasort);
    if (n < 0)
        return errors_add(errors, folder, 0, 0, "cannot read the folder: %s", strerror(errno));
    int r = 0;
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (r == 0 && specs.n == DATA_SPECS_MAX)
            r = errors_add(errors, folder, 0, 0, "holds more than %d specs", DATA_SPECS_MAX);
        if (r == 0)
            r = spec_json_load(path, NULL, errors, &specs.catalogs[specs.n]);
        if (r == 0)
            specs.n++;
    }
    free(entries);
    if (r == 0 && specs.n == 0)
        r = errors_add(errors, folder, 0, 0, "holds no specs (*.json)");
    if (r < 0)
        specs_deinit(&specs);
    else
        *out = specs;
    return r;
}

void specs_deinit(struct specs *specs) {
    while (specs->n > 0)
        catalog_free(specs->catalogs[--specs->n]);
}

const struct catalog *specs_find(const struct specs *specs, const char *name) {
    for (size_t i = 0; i < specs->n; i++)
        if (strcmp(specs->catalogs[i]->product.spec, name) == 0)
            return specs->catalogs[i];
    return NULL;
}
