// SPDX-License-Identifier: Apache-2.0
#include "config/json/json_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/json/json_scan.h"

// Paths and messages contain text of the file. It is cut to a bounded length and has no control characters, so that a
// hostile file cannot forge log lines.

enum { PATH_KEY_MAX = 60 };

static int read_all(int fd, char *text, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t n = read(fd, text + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO; // the file became shorter
        done += (size_t)n;
    }
    return 0;
}

static int read_open_file(int fd, const char *path, size_t size_max, struct errors *errors, struct json_buffer *buffer,
                          size_t *length) {
    struct stat status;
    if (fstat(fd, &status) < 0)
        return errors_add_failure(errors, path, "cannot be read", errno);
    if (!S_ISREG(status.st_mode))
        return errors_add(errors, path, 0, 0, "is not a regular file");
    if ((uintmax_t)status.st_size > size_max)
        return errors_add(errors, path, 0, 0, "is larger than %zu bytes", size_max);
    size_t size = (size_t)status.st_size;
    if (size >= buffer->room) {
        char *larger = realloc(buffer->text, size + 1);
        if (!larger)
            return -ENOMEM;
        *buffer = (struct json_buffer){.text = larger, .room = size + 1};
    }
    int r = read_all(fd, buffer->text, size);
    if (r < 0)
        return errors_add_failure(errors, path, "cannot be read", r);
    buffer->text[size] = '\0';
    *length = size;
    return 0;
}

int json_read_again(const char *path, size_t size_max, struct errors *errors, struct json_buffer *buffer,
                    size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe in place of the file must not block
    if (fd < 0)
        return errors_add_failure(errors, path, "cannot be opened", errno);
    int r = read_open_file(fd, path, size_max, errors, buffer, length);
    close(fd);
    return r;
}

int json_read_file(const char *path, size_t size_max, struct errors *errors, char **text, size_t *length) {
    struct json_buffer buffer = {.text = NULL};
    int r = json_read_again(path, size_max, errors, &buffer, length);
    if (r < 0)
        free(buffer.text);
    else
        *text = buffer.text;
    return r;
}

static void fail_at(struct json_reader *reader, const char *text, size_t at, const char *what) {
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < at; i++, column++)
        if (text[i] == '\n') {
            line++;
            column = 0;
        }
    reader->status = errors_add(reader->errors, reader->file, line, column, "%s", what);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// The first duplicate text, or NULL. Sorts the texts.
static const char *find_twice(const char **texts, size_t n) {
    if (n > 1)
        qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 1; i < n; i++)
        if (strcmp(texts[i - 1], texts[i]) == 0)
            return texts[i];
    return NULL;
}

static void check_keys_once(const struct json_node *node) {
    size_t n = 0;
    const cJSON *child;
    cJSON_ArrayForEach(child, node->value) n++;
    if (cJSON_IsObject(node->value) && n > 1) {
        const char **keys = calloc(n, sizeof *keys);
        if (!keys) {
            node->reader->status = -ENOMEM;
            return;
        }
        n = 0;
        cJSON_ArrayForEach(child, node->value) keys[n++] = child->string;
        const char *twice = find_twice(keys, n);
        if (twice)
            json_fail(node, "the key \"%.60s\" stands twice: remove one", twice);
        free(keys);
    }
    n = 0;
    cJSON_ArrayForEach(child, node->value) {
        const struct json_node below = json_child(node, child, n++);
        if (child->child)
            check_keys_once(&below); // as deep as json_scan allowed
    }
}

cJSON *json_parse_value(struct json_reader *reader, const char *text, size_t length, size_t depth_max) {
    size_t at = 0;
    size_t values_max = reader->values_max > 0 ? reader->values_max : JSON_VALUES_MAX;
    const char *wrong = json_scan(text, length, depth_max, values_max, &at);
    if (wrong) {
        fail_at(reader, text, at, wrong);
        return NULL;
    }
    const char *end = text;
    cJSON *document = cJSON_ParseWithLengthOpts(text, length, &end, false);
    at = (size_t)(end - text);
    if (!document) {
        fail_at(reader, text, at, "is not JSON from here on");
        return NULL;
    }
    while (at < length && memchr(" \t\r\n", text[at], 4))
        at++;
    if (at == length)
        return document;
    fail_at(reader, text, at, "there is more after the end of the JSON value");
    cJSON_Delete(document);
    return NULL;
}

cJSON *json_parse(struct json_reader *reader, const char *text, size_t length, size_t depth_max) {
    cJSON *document = json_parse_value(reader, text, length, depth_max);
    if (!document)
        return NULL;
    const struct json_node root = json_root(reader, document);
    if (json_is_object(&root)) {
        check_keys_once(&root);
        json_forgive(reader);
    }
    if (reader->status == 0)
        return document;
    cJSON_Delete(document);
    return NULL;
}

cJSON *json_load(struct json_reader *reader, size_t size_max, size_t depth_max) {
    char *text;
    size_t length;
    reader->status = json_read_file(reader->file, size_max, reader->errors, &text, &length);
    if (reader->status < 0)
        return NULL;
    cJSON *document = json_parse(reader, text, length, depth_max);
    free(text);
    return document;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *json_file_stem(const char *file) {
    const char *base = last_part(file);
    size_t length = strlen(base);
    if (length > 5 && strcmp(base + length - 5, ".json") == 0)
        length -= 5;
    return strndup(base, length);
}

struct json_node json_root(struct json_reader *reader, const cJSON *document) {
    return (struct json_node){.reader = reader, .value = document};
}

struct json_node json_child(const struct json_node *parent, const cJSON *value, size_t index) {
    return (struct json_node){
        .reader = parent->reader, .parent = parent, .key = value->string, .index = index, .value = value};
}

static struct json_node member(const struct json_node *object, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(object->value, key);
    return (struct json_node){.reader = object->reader,
                              .parent = object,
                              .key = key,
                              .value = cJSON_IsNull(value) ? NULL : value}; // null means absent, as in Arm's schema
}

// Writes "metrics.ipc.events[2]" and returns its length; cut if too long.
static size_t format_path(const struct json_node *node, char *out, size_t size) {
    size_t length = node->parent ? format_path(node->parent, out, size) : 0;
    if (!node->parent || length + 1 >= size)
        return length;
    int n = node->key ? snprintf(out + length, size - length, "%s%.*s", length > 0 ? "." : "", PATH_KEY_MAX, node->key)
                      : snprintf(out + length, size - length, "[%zu]", node->index);
    return n < 0 || (size_t)n >= size - length ? size - 1 : length + (size_t)n;
}

void json_fail(const struct json_node *node, const char *format, ...) {
    char text[ERROR_TEXT_MAX] = "", path[JSON_PATH_MAX] = "";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)format_path(node, path, sizeof path);
    for (char *c = text; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    for (char *c = path; *c != '\0'; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    const struct json_reader *reader = node->reader;
    const char *file = reader->file_of ? reader->file_of(reader->file_context, node) : NULL;
    int r =
        errors_add(reader->errors, file ? file : reader->file, 0, 0, "%s%s%s%s%s%s", path, path[0] != '\0' ? ": " : "",
                   text, file ? " (as read for " : "", file ? last_part(reader->file) : "", file ? ")" : "");
    if (node->reader->status == 0)
        node->reader->status = r;
}

void json_forgive(struct json_reader *reader) {
    if (reader->lenient && reader->status == -EINVAL)
        reader->status = 0;
}

void json_fail_memory(const struct json_node *node) { node->reader->status = -ENOMEM; }

void json_fail_suggest(const struct json_node *node, const char *word, const char *const *candidates, size_t n,
                       const char *text) {
    const char *near = error_suggest(word, candidates, n);
    if (near)
        json_fail(node, "%s; did you mean %.60s?", text, near);
    else
        json_fail(node, "%s", text);
}

void json_check_keys(const struct json_node *object, const char *const *keys, size_t n) {
    const cJSON *child;
    cJSON_ArrayForEach(child, object->value) {
        size_t i = 0;
        while (i < n && strcmp(keys[i], child->string) != 0)
            i++;
        const struct json_node unknown = json_child(object, child, 0);
        if (i == n)
            json_fail_suggest(&unknown, child->string, keys, n, "there is no such key");
    }
}

static bool present(const struct json_node *node, enum json_need need) {
    if (!node->value && need == JSON_REQUIRED)
        json_fail(node, "is missing");
    return node->value;
}

bool json_get_text(const struct json_node *object, const char *key, enum json_need need, const char **out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need))
        return false;
    if (!cJSON_IsString(node.value)) {
        json_fail(&node, "must be text in quotes");
        return false;
    }
    *out = node.value->valuestring;
    return true;
}

bool json_is_number(const struct json_node *node, double min, double max) {
    if (!cJSON_IsNumber(node->value) || !isfinite(node->value->valuedouble))
        json_fail(node, "must be a number");
    else if (node->value->valuedouble < min || node->value->valuedouble > max)
        json_fail(node, "must be between %g and %g", min, max);
    else
        return true;
    return false;
}

bool json_get_number(const struct json_node *object, const char *key, enum json_need need, double min, double max,
                     double *out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need) || !json_is_number(&node, min, max))
        return false;
    *out = node.value->valuedouble;
    return true;
}

bool json_get_count(const struct json_node *object, const char *key, enum json_need need, unsigned min, unsigned max,
                    unsigned *out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need) || !json_is_number(&node, min, max))
        return false;
    if (floor(node.value->valuedouble) != node.value->valuedouble) {
        json_fail(&node, "must be a whole number");
        return false;
    }
    *out = (unsigned)node.value->valuedouble;
    return true;
}

bool json_get_bool(const struct json_node *object, const char *key, enum json_need need, bool *out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need))
        return false;
    if (!cJSON_IsBool(node.value)) {
        json_fail(&node, "must be true or false");
        return false;
    }
    *out = cJSON_IsTrue(node.value);
    return true;
}

bool json_is_object(const struct json_node *node) {
    if (!cJSON_IsObject(node->value))
        json_fail(node, "must be an object, {...}");
    return cJSON_IsObject(node->value);
}

bool json_get_object(const struct json_node *object, const char *key, enum json_need need, struct json_node *out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need) || !json_is_object(&node))
        return false;
    *out = node;
    return true;
}

static bool is_array(const struct json_node *node, size_t max) {
    if (!cJSON_IsArray(node->value))
        json_fail(node, "must be a list, [...]");
    else if ((size_t)cJSON_GetArraySize(node->value) > max)
        json_fail(node, "has more than %zu entries", max);
    else
        return true;
    return false;
}

bool json_get_array(const struct json_node *object, const char *key, enum json_need need, size_t max,
                    struct json_node *out) {
    const struct json_node node = member(object, key);
    if (!present(&node, need) || !is_array(&node, max))
        return false;
    *out = node;
    return true;
}

// Collects the array's texts; false if an element is not a text or is a duplicate.
static bool collect_texts(const struct json_node *array, const char **texts, const char **sorted) {
    size_t n = 0;
    const cJSON *child;
    cJSON_ArrayForEach(child, array->value) {
        const struct json_node element = json_child(array, child, n);
        if (!cJSON_IsString(child)) {
            json_fail(&element, "must be text in quotes");
            return false;
        }
        sorted[n] = texts[n] = child->valuestring;
        n++;
    }
    const char *twice = find_twice(sorted, n);
    if (twice)
        json_fail(array, "\"%.60s\" stands twice: remove one", twice);
    return !twice;
}

bool json_texts(const struct json_node *array, size_t max, const char ***out, size_t *n) {
    if (!is_array(array, max))
        return false;
    size_t size = (size_t)cJSON_GetArraySize(array->value);
    const char **texts = calloc(size + 1, sizeof *texts);
    const char **sorted = calloc(size + 1, sizeof *sorted);
    bool good = false;
    if (!texts || !sorted)
        json_fail_memory(array);
    else
        good = collect_texts(array, texts, sorted);
    free(sorted);
    if (!good) {
        free(texts);
        return false;
    }
    *out = texts;
    *n = size;
    return true;
}

bool json_get_texts(const struct json_node *object, const char *key, enum json_need need, size_t max, const char ***out,
                    size_t *n) {
    const struct json_node node = member(object, key);
    return present(&node, need) && json_texts(&node, max, out, n);
}
