// SPDX-License-Identifier: Apache-2.0
//
// Reads the files, merges their trees, and decodes the result.
//
// The merged tree is decoded only if every file could be read: with an unreadable file, a profile, for example, may
// only seem to be missing. The files after a bad one are still read, to report their own mistakes.
#include "config/yaml/config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/yaml/config_boxes.h"
#include "config/yaml/config_decode.h"
#include "config/yaml/config_listen.h"
#include "config/yaml/config_uncore.h"
#include "config/yaml/yaml_file.h"
#include "config/yaml/yaml_tree.h"

struct loader {
    struct config *config;
    struct yaml_tree *tree; // merged from all files so far
    struct errors *errors;
    size_t errors_before;
    size_t nodes_left;
    bool unreadable;     // a file could not be read or understood
    config_check *check; // NULL: none
    const void *context; // for the check
};

static size_t count_errors(const struct errors *errors) { return errors->n + errors->dropped; }

static int loader_init(struct loader *loader, struct errors *errors) {
    *loader =
        (struct loader){.errors = errors, .errors_before = count_errors(errors), .nodes_left = YAML_TREE_NODES_MAX};
    loader->config = calloc(1, sizeof *loader->config);
    if (!loader->config)
        return -ENOMEM;
    loader->config->files = calloc(CONFIG_FILES_MAX, sizeof *loader->config->files);
    return loader->config->files ? 0 : -ENOMEM;
}

// Merges a file's text into the tree. Returns 0 or -ENOMEM.
static int loader_add(struct loader *loader, const char *name, const char *text, size_t length) {
    struct config *config = loader->config;
    char *file = strdup(name);
    if (!file)
        return -ENOMEM;
    config->files[config->n_files++] = file;
    struct yaml_tree *tree;
    int r = yaml_tree_parse(file, text, length, &loader->nodes_left, loader->errors, &tree);
    if (r == 0 && !loader->tree)
        loader->tree = tree;
    else if (r == 0)
        r = yaml_tree_merge(loader->tree, tree, loader->errors);
    if (r == -ENOMEM)
        return r;
    loader->unreadable |= r < 0;
    return 0;
}

// Decodes the tree, if `status`, the result so far, allows it. Frees the loader's memory.
static int loader_finish(struct loader *loader, int status, struct config **out) {
    if (status == 0 && !loader->unreadable)
        status = config_decode(loader->tree, loader->config, loader->errors);
    if (status == 0 && !loader->unreadable && loader->check)
        status = loader->check(loader->config, loader->context, loader->errors);
    if (status == 0 && count_errors(loader->errors) > loader->errors_before)
        status = -EINVAL;
    if (status == 0) {
        loader->config->hash = yaml_tree_hash(loader->tree);
        *out = loader->config;
    } else {
        config_free(loader->config);
    }
    yaml_tree_free(loader->tree);
    return status;
}

int config_parse(const char *name, const char *text, size_t length, struct errors *errors, struct config **out) {
    struct loader loader;
    int r = loader_init(&loader, errors);
    if (r == 0)
        r = loader_add(&loader, name, text, length);
    return loader_finish(&loader, r, out);
}

static void report_unreadable(struct loader *loader, const char *path, int error) {
    yaml_file_report(loader->errors, path, error);
    loader->unreadable = true;
}

// Returns 0 or -ENOMEM; the loader records an unreadable file as an error.
static int loader_read(struct loader *loader, const char *path) {
    char *data;
    size_t length;
    int r = yaml_file_read(path, &data, &length);
    if (r == -ENOMEM)
        return r;
    if (r < 0) {
        report_unreadable(loader, path, r);
        return 0;
    }
    r = loader_add(loader, path, data, length);
    free(data);
    return r;
}

static int is_yaml(const struct dirent *entry) {
    size_t length = strlen(entry->d_name), suffix = strlen(".yaml");
    return entry->d_name[0] != '.' && length > suffix && strcmp(entry->d_name + length - suffix, ".yaml") == 0;
}

// alphasort depends on the locale, but the order must be the same on every host.
static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int loader_read_in(struct loader *loader, const char *folder, const char *name) {
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return -ENOMEM;
    int r = loader_read(loader, path);
    free(path);
    return r;
}

static int loader_read_folder(struct loader *loader, const char *folder) {
    struct dirent **entries;
    int n = scandir(folder, &entries, is_yaml, compare_names);
    if (n < 0 && errno == ENOENT)
        return 0;
    if (n < 0 && errno == ENOMEM)
        return -ENOMEM;
    if (n < 0) {
        report_unreadable(loader, folder, -errno);
        return 0;
    }
    int r = 0;
    if (n >= CONFIG_FILES_MAX) {
        (void)errors_add(loader->errors, folder, 0, 0, "more than %d files", CONFIG_FILES_MAX - 1);
        loader->unreadable = true;
    }
    for (int i = 0; i < n; i++) {
        if (r == 0 && n < CONFIG_FILES_MAX)
            r = loader_read_in(loader, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return r;
}

int config_load_checked(const char *path, config_check *check, const void *context, struct errors *errors,
                        struct config **out) {
    struct loader loader;
    int r = loader_init(&loader, errors);
    loader.check = check;
    loader.context = context;
    if (r == 0)
        r = loader_read(&loader, path);
    const char *slash = strrchr(path, '/');
    char *folder = NULL;
    if (r == 0 && asprintf(&folder, "%.*sconf.d", slash ? (int)(slash - path) + 1 : 0, path) < 0)
        r = -ENOMEM;
    if (r == 0) {
        r = loader_read_folder(&loader, folder);
        free(folder);
    }
    return loader_finish(&loader, r, out);
}

int config_load(const char *path, struct errors *errors, struct config **out) {
    return config_load_checked(path, NULL, NULL, errors, out);
}

static void profile_deinit(struct config_profile *profile) {
    for (size_t i = 0; i < profile->n_groups; i++)
        free(profile->groups[i].name);
    free(profile->groups);
    free(profile->name);
}

struct config *config_free(struct config *config) {
    if (!config)
        return NULL;
    config_boxes_deinit(&config->uncore);
    free(config->record.path);
    free(config->textfile.path);
    free(config->specs.path);
    config_uncore_deinit(&config->uncore);
    for (size_t i = 0; i < config->n_hosts; i++) {
        free(config->hosts[i].hostname);
        free(config->hosts[i].cpu);
        free(config->hosts[i].file);
    }
    free(config->hosts);
    for (size_t i = 0; i < config->n_profiles; i++)
        profile_deinit(&config->profiles[i]);
    free(config->profiles);
    free(config->set);
    config_listen_clear(config);
    free(config->probe.text);
    free(config->probe.address);
    for (size_t i = 0; i < config->n_files; i++)
        free(config->files[i]);
    free(config->files);
    free(config);
    return NULL;
}

static bool pattern_matches(const char *pattern, const char *text) {
    return !pattern || fnmatch(pattern, text, FNM_CASEFOLD) == 0;
}

bool config_cpu_matches(const char *pattern, const char *const *cpus, size_t n) {
    size_t i = 0;
    while (i < n && !pattern_matches(pattern, cpus[i]))
        i++;
    return i < n;
}

static bool host_matches(const struct config_host *host, const struct config_facts *facts) {
    return pattern_matches(host->hostname, facts->hostname) &&
           config_cpu_matches(host->cpu, facts->cpus, facts->n_cpus) && (!host->file || facts->file_exists(host->file));
}

const struct config_profile *config_select(const struct config *config, const struct config_facts *facts) {
    if (config->forced_profile >= 0)
        return &config->profiles[config->forced_profile];
    for (size_t i = 0; i < config->n_hosts; i++)
        if (host_matches(&config->hosts[i], facts))
            return &config->profiles[config->hosts[i].profile];
    size_t i = 0;
    while (strcmp(config->profiles[i].name, "default") != 0)
        i++;
    return &config->profiles[i];
}
