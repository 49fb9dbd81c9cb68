// SPDX-License-Identifier: Apache-2.0
#include "config/vendor/perf_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/json/json_reader.h"
#include "config/vendor/perf_folder.h"

// perf_folder.c finds the files; this file parses them and reads their entries.

static int compare_names(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_json(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 5 && entry->d_name[0] != '.' && strcmp(entry->d_name + length - 5, ".json") == 0;
}

// Returns 0 (even if the text is invalid, with the reason added), -ENOMEM.
static int add_document(struct perf_files *files, const char *path, const char *text, size_t length, bool standard,
                        struct errors *errors) {
    struct json_reader reader = {.file = path, .errors = errors};
    cJSON *document = json_parse_value(&reader, text, length, PERF_DEPTH_MAX);
    if (!document)
        return reader.status == -EINVAL ? 0 : reader.status;
    struct perf_file *item = &files->files[files->n++];
    *item = (struct perf_file){.path = strdup(path), .document = document, .standard = standard};
    return item->path ? 0 : -ENOMEM;
}

static int read_file(struct perf_files *files, const char *path, bool standard, struct errors *errors,
                     struct json_buffer *buffer) {
    size_t length;
    int r = json_read_again(path, PERF_FILE_MAX, errors, buffer, &length);
    if (r == 0)
        r = add_document(files, path, buffer->text, length, standard, errors);
    return r == -ENOMEM ? r : 0; // its mistakes have been reported
}

static int read_folder(struct perf_files *files, const char *folder, bool standard, struct errors *errors) {
    struct dirent **entries;
    struct json_buffer buffer = {.text = NULL};
    char path[PERF_PATH_MAX];
    int n = scandir(folder, &entries, is_json, compare_names), r = 0;
    if (n < 0)
        return errors_add_failure(errors, folder, "the folder cannot be read", errno);
    for (int i = 0; i < n; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (r == 0 && files->n == PERF_FILES_MAX)
            r = errors_add(errors, folder, 0, 0, "holds more than %d files", PERF_FILES_MAX);
        if (r == 0 && length > 0 && (size_t)length < sizeof path)
            r = read_file(files, path, standard, errors, &buffer);
    }
    free(buffer.text);
    free(entries);
    return r;
}

static void index_standard(struct perf_files *files, const cJSON *entry, const char *key, size_t *n, int *r) {
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, key));
    if (!name || *r < 0)
        return;
    *r = name_index_add(&files->standard_names, name, (unsigned)*n);
    files->standards[(*n)++] = entry;
}

static int index_standards(struct perf_files *files) {
    size_t room = 1, n = 0;
    int r = 0;
    for (size_t i = 0; i < files->n; i++)
        room += files->files[i].standard ? 2 * (size_t)cJSON_GetArraySize(files->files[i].document) : 0;
    files->standards = calloc(room, sizeof *files->standards);
    if (!files->standards)
        return -ENOMEM;
    for (size_t i = 0; i < files->n; i++) {
        const cJSON *entry;
        if (!files->files[i].standard)
            continue;
        cJSON_ArrayForEach(entry, files->files[i].document) {
            index_standard(files, entry, "EventName", &n, &r);
            index_standard(files, entry, "MetricName", &n, &r);
        }
    }
    return r;
}

static int open_files(const struct perf_folder *folder, struct errors *errors, struct perf_files *files) {
    files->folder = strdup(folder->path);
    files->name = json_file_stem(folder->path);
    files->files = calloc(PERF_FILES_MAX, sizeof *files->files);
    if (!files->folder || !files->name || !files->files)
        return -ENOMEM;
    struct json_buffer buffer = {.text = NULL};
    int r = folder->is_file ? read_file(files, folder->path, false, errors, &buffer)
                            : read_folder(files, folder->path, false, errors);
    free(buffer.text);
    if (r == 0 && files->n == 0)
        return errors_add(errors, folder->path, 0, 0, "%s",
                          folder->is_file ? "no event and no metric can be read from it"
                                          : "the folder holds no JSON file that can be read");
    if (r == 0 && folder->architecture[0] != '\0')
        r = read_folder(files, folder->architecture, true, errors);
    return r == 0 ? index_standards(files) : r;
}

int perf_files_open(const char *path, const char *cpuid, struct errors *errors, struct perf_files *out) {
    struct perf_folder *folder = calloc(1, sizeof *folder);
    struct perf_files files = {.name = NULL};
    if (!folder)
        return -ENOMEM;
    int r = perf_folder_find(path, cpuid, errors, folder);
    if (r == 0)
        r = open_files(folder, errors, &files);
    free(folder);
    if (r < 0)
        perf_files_close(&files);
    else
        *out = files;
    return r;
}

int perf_files_parse(const char *name, const char *text, size_t length, struct errors *errors, struct perf_files *out) {
    struct perf_files files = {.name = json_file_stem(name), .folder = strdup(name)};
    files.files = calloc(1, sizeof *files.files);
    int r = files.name && files.folder && files.files ? 0 : -ENOMEM;
    if (r == 0)
        r = add_document(&files, name, text, length, false, errors);
    if (r == 0 && files.n == 0)
        r = -EINVAL; // add_document has added the reason
    if (r == 0)
        r = index_standards(&files);
    if (r < 0)
        perf_files_close(&files);
    else
        *out = files;
    return r;
}

void perf_files_close(struct perf_files *files) {
    name_index_deinit(&files->standard_names);
    free(files->standards);
    for (size_t i = 0; i < files->n; i++) {
        cJSON_Delete(files->files[i].document);
        free(files->files[i].path);
    }
    free(files->files);
    free(files->folder);
    free(files->name);
    *files = (struct perf_files){.name = NULL};
}

// ---- entries ----

// Known fields by the length of their names, so that each key of thousands of entries is compared with only a few. A
// list ends with NULL.
static const struct known_field {
    const char *name;
    enum perf_field field;
} KNOWN[][8] = {
    [4] = {{"Unit", PERF_UNIT}},
    [5] = {{"UMask", PERF_UMASK}},
    [6] = {{"Compat", PERF_COMPAT},
           {"FCMask", PERF_FC_MASK},
           {"ExtSel", PERF_EXT_SEL},
           {"Invert", PERF_INVERT},
           {"Filter", PERF_FILTER}},
    [7] = {{"Counter", PERF_COUNTER}, {"SliceId", PERF_SLICE_ID}},
    [8] = {{"MSRIndex", PERF_MSR_INDEX},
           {"MSRValue", PERF_MSR_VALUE},
           {"PortMask", PERF_PORT_MASK},
           {"UMaskExt", PERF_UMASK_EXT},
           {"NodeType", PERF_NODE_TYPE},
           {"RdWrMask", PERF_RD_WR_MASK}},
    [9] = {{"EventName", PERF_EVENT_NAME},
           {"EventCode", PERF_EVENT_CODE},
           {"ScaleUnit", PERF_SCALE_UNIT},
           {"AnyThread", PERF_ANY_THREAD}},
    [10] = {{"MetricName", PERF_METRIC_NAME},
            {"MetricExpr", PERF_METRIC_EXPR},
            {"EdgeDetect", PERF_EDGE_DETECT},
            {"ConfigCode", PERF_CONFIG_CODE},
            {"EnAllCores", PERF_EN_ALL_CORES},
            {"ThreadMask", PERF_THREAD_MASK}},
    [11] = {{"CounterMask", PERF_COUNTER_MASK},
            {"MetricGroup", PERF_METRIC_GROUP},
            {"EventidCode", PERF_EVENTID_CODE},
            {"EnAllSlices", PERF_EN_ALL_SLICES}},
    [12] = {{"ArchStdEvent", PERF_ARCH_STD_EVENT}},
    [15] = {{"MetricThreshold", PERF_METRIC_THRESHOLD}},
    [16] = {{"BriefDescription", PERF_BRIEF},
            {"MetricConstraint", PERF_METRIC_CONSTRAINT},
            {"LegacyConfigCode", PERF_LEGACY_CODE}},
    [17] = {{"PublicDescription", PERF_PUBLIC}},
    [18] = {{"CountersNumGeneric", PERF_GENERIC_COUNTERS}},
};

static int field_of(const char *key) {
    size_t length = strlen(key);
    if (length >= sizeof KNOWN / sizeof *KNOWN)
        return -1;
    for (const struct known_field *known = KNOWN[length]; known->name; known++)
        if (known->name[0] == key[0] && strcmp(known->name, key) == 0)
            return (int)known->field;
    return -1;
}

void perf_entry_fail(const struct perf_entry *entry, struct errors *errors, const char *format, ...) {
    char text[ERROR_TEXT_MAX];
    const char *name = entry->fields[PERF_METRIC_NAME];
    if (!name)
        name = entry->fields[PERF_EVENT_NAME];
    if (!name)
        name = entry->fields[PERF_ARCH_STD_EVENT];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    char shown[64];
    (void)snprintf(shown, sizeof shown, "%s", name ? name : "without a name");
    for (char *c = shown; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    (void)errors_add(errors, entry->file, 0, 0, "entry %zu (%s): %s", entry->place, shown, text);
}

// False with an error added if the entry is invalid. The entry's name is read first, for messages.
static bool read_fields(const cJSON *value, struct errors *errors, struct perf_entry *entry) {
    const cJSON *child;
    if (!cJSON_IsObject(value)) {
        perf_entry_fail(entry, errors, "must be an object, {...}");
        return false;
    }
    cJSON_ArrayForEach(child, value) {
        int field = field_of(child->string);
        bool text = field >= 0 && cJSON_IsString(child);
        // some files give other units' numbers of counters as JSON numbers
        if (field < 0 || (!text && (cJSON_IsNull(child) || (field == PERF_GENERIC_COUNTERS && cJSON_IsNumber(child)))))
            continue;
        if (!text) {
            perf_entry_fail(entry, errors, "%s must be text in quotes", child->string);
            return false;
        }
        if (entry->fields[field]) {
            perf_entry_fail(entry, errors, "the key %s stands twice: remove one", child->string);
            return false;
        }
        entry->fields[field] = child->valuestring;
    }
    return true;
}

static bool add_standard(const struct perf_files *files, struct errors *errors, struct perf_entry *entry) {
    const char *name = entry->fields[PERF_ARCH_STD_EVENT];
    if (!name)
        return true;
    int standard = name_index_find(&files->standard_names, name, strlen(name), true);
    if (standard < 0) {
        perf_entry_fail(entry, errors, "its ArchStdEvent %.60s is not among the architecture's events", name);
        return false;
    }
    struct perf_entry theirs = {.file = entry->file, .place = entry->place};
    if (!read_fields(files->standards[standard], errors, &theirs))
        return false;
    for (size_t i = 0; i < PERF_FIELD_N; i++)
        if (!entry->fields[i])
            entry->fields[i] = theirs.fields[i];
    return true;
}

bool perf_files_read(const struct perf_files *files, const char *file, size_t place, const cJSON *value,
                     struct errors *errors, struct perf_entry *out) {
    *out = (struct perf_entry){.file = file, .place = place, .value = value};
    return read_fields(value, errors, out) && add_standard(files, errors, out);
}

bool perf_files_next(const struct perf_files *files, struct perf_cursor *cursor, struct errors *errors,
                     struct perf_entry *out) {
    for (;;) {
        while (!cursor->next) {
            if (cursor->file == files->n)
                return false;
            const struct perf_file *file = &files->files[cursor->file++];
            cursor->place = 0;
            if (!file->standard && cJSON_IsArray(file->document))
                cursor->next = file->document->child;
        }
        const cJSON *value = cursor->next;
        cursor->next = value->next;
        if (perf_files_read(files, files->files[cursor->file - 1].path, ++cursor->place, value, errors, out))
            return true;
    }
}

const char *perf_files_group_text(const struct perf_files *files, const char *group) {
    for (size_t i = 0; i < files->n; i++) {
        const cJSON *text = files->files[i].standard || !cJSON_IsObject(files->files[i].document)
                                ? NULL
                                : cJSON_GetObjectItemCaseSensitive(files->files[i].document, group);
        if (cJSON_IsString(text))
            return text->valuestring;
    }
    return NULL;
}

bool perf_scale_unit(const char *text, double *scale, const char **unit) {
    static const char digits[] = "0123456789";
    size_t n = strspn(text, digits), length = n;
    if (text[length] == '.')
        length += 1 + strspn(text + length + 1, digits);
    if (length == 0 || (n == 0 && length < 2))
        return false;
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
        size_t exponent = strspn(text + length + 1 + sign, digits);
        length += exponent > 0 ? 1 + sign + exponent : 0;
    }
    char number[64];
    if (length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    *scale = strtod(number, NULL);
    *unit = text + length;
    return true;
}
