// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/spec_format.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/json/json_reader.h"
#include "config/spec/spec_json.h"
#include "config/vendor/perfmon_map.h"
#include "core/host/environment.h"

enum { FILES_MAX = 1024 };

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

__attribute__((format(printf, 2, 3))) static bool path_format(char out[SPEC_PATH_MAX], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(out, SPEC_PATH_MAX, format, arguments);
    va_end(arguments);
    return n > 0 && n < SPEC_PATH_MAX;
}

static int is_json(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".json") == 0;
}

// ---- the format ----

// The format of a file, by its first characters; errno is 0 if it could be opened.
static enum spec_format guess_file(const char *path) {
    static const char *const keys[] = {"\"Header\"", "\"Metrics\"", "\"Events\""};
    static const char space[] = " \t\r\n";
    char text[256];
    errno = 0;
    FILE *in = is_file(path) ? fopen(path, "re") : NULL;
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in)
        (void)fclose(in);
    text[n] = '\0';
    const char *first = text + strspn(text, space), *key = *first == '{' ? first + 1 + strspn(first + 1, space) : "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strncmp(key, keys[i], strlen(keys[i])) == 0)
            return SPEC_FORMAT_PERFMON;
    return *first == '[' ? SPEC_FORMAT_PERF : *first == '{' ? SPEC_FORMAT_ARM : SPEC_FORMAT_ANY;
}

static enum spec_format guess_folder(const char *folder) {
    struct dirent **entries;
    char path[SPEC_PATH_MAX];
    enum spec_format format = SPEC_FORMAT_ANY;
    int n = scandir(folder, &entries, is_json, alphasort);
    for (int i = 0; i < n; i++) {
        enum spec_format one = format != SPEC_FORMAT_PERF && path_format(path, "%s/%s", folder, entries[i]->d_name)
                                   ? guess_file(path)
                                   : SPEC_FORMAT_ANY;
        if (one == SPEC_FORMAT_PERF || format == SPEC_FORMAT_ANY)
            format = one;
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return format;
}

enum spec_format spec_format_guess(const char *path, struct errors *errors) {
    char below[SPEC_PATH_MAX];
    enum spec_format format = SPEC_FORMAT_ANY;
    if (!is_folder(path)) {
        format = guess_file(path);
        if (format == SPEC_FORMAT_ANY && errno != 0)
            (void)errors_add_failure(errors, path, "cannot be read", errno);
        else if (format == SPEC_FORMAT_ANY && !is_file(path))
            (void)errors_add_failure(errors, path, "cannot be read", ENOENT);
        else if (format == SPEC_FORMAT_ANY)
            (void)errors_add(errors, path, 0, 0,
                             "is no JSON file: neither a list (perf) nor an object (Arm, intel/perfmon)");
        return format;
    }
    if (path_format(below, "%s/mapfile.csv", path) && perfmon_is_map(below))
        return SPEC_FORMAT_PERFMON;
    if (path_format(below, "%s/cpu", path) && is_folder(below) && path_format(below, "%s/mapping.json", path) &&
        is_file(below))
        return SPEC_FORMAT_ARM;
    format = guess_folder(path);
    if (format == SPEC_FORMAT_ANY && path_format(below, "%s/cpu", path) && guess_folder(below) == SPEC_FORMAT_ARM)
        return SPEC_FORMAT_ARM;
    if (format == SPEC_FORMAT_ANY && path_format(below, "%s/metrics", path) &&
        guess_folder(below) == SPEC_FORMAT_PERFMON)
        return SPEC_FORMAT_PERFMON;
    // a folder of architectures has no JSON file of its own
    return format == SPEC_FORMAT_ANY ? SPEC_FORMAT_PERF : format;
}

// ---- Arm: the file ----

struct arm_search {
    const char *cpuid;
    uint32_t midr;
    struct errors *errors;
    char *out;
    uint32_t best; // best match: variant and revision
    bool found;
};

static bool parse_midr(const char *text, uint32_t *midr) {
    char *end;
    if (!text || (text[0] != '0' || (text[1] != 'x' && text[1] != 'X')))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 16);
    *midr = (uint32_t)value;
    return errno == 0 && *end == '\0' && value <= UINT32_MAX;
}

// "neoverse_n2_r0p3_pmu" is neoverse-n2-r0p3.json or, if that is missing, neoverse-n2.json.
static bool file_of_product(const char *folder, const char *product, char out[SPEC_PATH_MAX]) {
    char name[128];
    if (strlen(product) >= sizeof name || strchr(product, '/'))
        return false;
    (void)snprintf(name, sizeof name, "%s", product);
    if (path_format(out, "%s/%s.json", folder, name) && is_file(out))
        return true;
    for (char *c = name; *c != '\0'; c++)
        *c = *c == '_' ? '-' : *c;
    for (int cut = 0; cut < 3; cut++) {
        if (path_format(out, "%s/%s.json", folder, name) && is_file(out))
            return true;
        char *dash = strrchr(name, '-');
        if (!dash)
            return false;
        *dash = '\0';
    }
    return false;
}

// Returns 1 if found, 0 if the CPU is not in it, or a negative errno.
static int search_mapping(struct arm_search *search, const char *mapping, const char *folder) {
    struct json_reader reader = {.file = mapping, .errors = search->errors};
    char keys[2][16];
    const char *product = NULL;
    cJSON *document = json_load(&reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    if (!document)
        return reader.status;
    (void)snprintf(keys[0], sizeof keys[0], "0x%08x", search->midr);
    (void)snprintf(keys[1], sizeof keys[1], "0x%02x%03x", search->midr >> 24, search->midr >> 4 & 0xfff);
    for (int i = 0; i < 2 && !product; i++)
        product =
            cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItem(document, keys[i]), "name"));
    int r = product ? 1 : 0;
    if (product && !file_of_product(folder, product, search->out)) {
        (void)errors_add(search->errors, mapping, 0, 0, "the CPU %s is a %.60s, whose file is not in %.100s",
                         search->cpuid, product, folder);
        r = -ENOENT;
    }
    cJSON_Delete(document);
    return r;
}

static void take_best(struct arm_search *search, uint32_t midr, const char *path) {
    char pattern[16];
    struct environment environment;
    uint32_t release = (midr >> 16 & 0xf0) | (midr & 0xf);
    environment_init(&environment);
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "0x%08x", search->midr);
    (void)snprintf(pattern, sizeof pattern, "0x%08x", midr);
    if (!environment_is_cpu(&environment, pattern) || (search->found && release <= search->best))
        return;
    search->found = true;
    search->best = release;
    (void)snprintf(search->out, SPEC_PATH_MAX, "%s", path);
}

// Searches the rows of cpus.json: {"spec": NAME, "midr": [...], "cpuid": [...]}.
static int search_cpus(struct arm_search *search, const char *cpus, const char *folder) {
    struct json_reader reader = {.file = cpus, .errors = search->errors};
    struct environment environment;
    char path[SPEC_PATH_MAX];
    cJSON *document = json_load(&reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    const cJSON *row, *item;
    if (!document)
        return reader.status;
    environment_init(&environment);
    (void)snprintf(environment.facts.cpuid, sizeof environment.facts.cpuid, "%s", search->cpuid);
    cJSON_ArrayForEach(row, cJSON_GetObjectItem(document, "cpus")) {
        const char *spec = cJSON_GetStringValue(cJSON_GetObjectItem(row, "spec"));
        uint32_t midr;
        if (!spec || !path_format(path, "%s/%s.json", folder, spec))
            continue;
        cJSON_ArrayForEach(item, cJSON_GetObjectItem(row, "midr")) {
            if (parse_midr(cJSON_GetStringValue(item), &midr))
                take_best(search, midr, path);
        }
        cJSON_ArrayForEach(item, cJSON_GetObjectItem(row, "cpuid")) {
            if (!cJSON_IsString(item) || search->found || !environment_is_cpu(&environment, item->valuestring))
                continue;
            search->found = true;
            (void)snprintf(search->out, SPEC_PATH_MAX, "%s", path);
        }
    }
    cJSON_Delete(document);
    return search->found;
}

// A number written as a JSON number or as text.
static unsigned number_of(const cJSON *value) {
    return cJSON_IsNumber(value)   ? (unsigned)value->valueint
           : cJSON_IsString(value) ? (unsigned)strtoul(value->valuestring, NULL, 0)
                                   : 0;
}

// Matches the file's own description: its core, and topdownd's list of MIDRs.
static void search_file(struct arm_search *search, const char *path) {
    struct errors ignored = {.n = 0}; // another file of the folder may be invalid
    struct json_reader reader = {.file = path, .errors = &ignored};
    cJSON *document = json_load(&reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX);
    const cJSON *product = cJSON_GetObjectItem(document, "product_configuration"), *item;
    uint32_t implementer, part, midr;
    if (parse_midr(cJSON_GetStringValue(cJSON_GetObjectItem(product, "implementer")), &implementer) &&
        parse_midr(cJSON_GetStringValue(cJSON_GetObjectItem(product, "part_num")), &part)) {
        unsigned variant = number_of(cJSON_GetObjectItem(product, "major_revision"));
        unsigned revision = number_of(cJSON_GetObjectItem(product, "minor_revision"));
        take_best(search, implementer << 24 | (variant & 0xf) << 20 | 0xf0000 | (part & 0xfff) << 4 | (revision & 0xf),
                  path);
    }
    const cJSON *match = cJSON_GetObjectItem(cJSON_GetObjectItem(document, "topdownd"), "match");
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(match, "midr")) {
        if (parse_midr(cJSON_GetStringValue(item), &midr))
            take_best(search, midr, path);
    }
    cJSON_Delete(document);
}

// Returns the number of JSON files; the last one's path is in *path.
static int search_files(struct arm_search *search, const char *folder, char path[SPEC_PATH_MAX]) {
    struct dirent **entries;
    int n = scandir(folder, &entries, is_json, alphasort);
    for (int i = 0; i < n; i++) {
        if (i < FILES_MAX && path_format(path, "%s/%s", folder, entries[i]->d_name) && search->cpuid)
            search_file(search, path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n;
}

static int search_folder(struct arm_search *search, const char *given) {
    char folder[SPEC_PATH_MAX], path[SPEC_PATH_MAX] = "";
    if (!path_format(folder, "%s/cpu", given) || !is_folder(folder))
        (void)path_format(folder, "%s", given);
    int r = 0;
    if (search->cpuid && ((path_format(path, "%s/mapping.json", folder) && is_file(path)) ||
                          (path_format(path, "%s/../mapping.json", folder) && is_file(path))))
        r = search_mapping(search, path, folder);
    if (r == 0 && search->cpuid && path_format(path, "%s/cpus.json", folder) && is_file(path))
        r = search_cpus(search, path, folder);
    if (r != 0)
        return r < 0 ? r : 0;
    int n = search_files(search, folder, path);
    if (search->found)
        return 0;
    if (n == 1) {
        (void)snprintf(search->out, SPEC_PATH_MAX, "%s", path);
        return 0;
    }
    if (n <= 0)
        return errors_add(search->errors, given, 0, 0, "holds no files (*.json)");
    if (!search->cpuid)
        (void)errors_add(search->errors, given, 0, 0,
                         "holds the files of many CPUs: say which one, as perf writes it (eval: --cpuid "
                         "GenuineIntel-6-8F-4, or a MIDR_EL1 such as 0x410fd4f0), or name its file");
    else
        (void)errors_add(search->errors, given, 0, 0,
                         "holds no file for the CPU %.60s: name the file of one that is like it", search->cpuid);
    return -ENOENT;
}

int spec_arm_find(const char *path, const char *cpuid, struct errors *errors, char out[SPEC_PATH_MAX]) {
    char found[SPEC_PATH_MAX];
    struct arm_search search = {.cpuid = cpuid, .errors = errors, .out = found};
    if (strlen(path) >= SPEC_PATH_MAX - 300)
        return errors_add(errors, NULL, 0, 0, "the path of the specs is too long");
    if (!is_folder(path)) {
        (void)snprintf(out, SPEC_PATH_MAX, "%s", path);
        return 0;
    }
    (void)parse_midr(cpuid, &search.midr);
    int r = search_folder(&search, path);
    if (r == 0)
        (void)snprintf(out, SPEC_PATH_MAX, "%s", found);
    return r;
}
