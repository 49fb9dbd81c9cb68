// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_JSON_JSON_READER_H
#define TOPDOWND_CONFIG_JSON_JSON_READER_H

// Shared by all readers of JSON files: bounded reading, checks that the parser does not make, and getters that report
// the place of a mistake in the file.
//
// The parser keeps no line numbers, so syntax errors are reported with line and column, but errors of content with the
// path of the value, such as metrics.ipc.formula. The reader's status keeps the first failure; reading goes on, so that
// several mistakes are shown at once.

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

// Limit on a file's values and commas: bounds the memory that a small hostile file can demand.
enum { JSON_VALUES_MAX = 1 << 18, JSON_PATH_MAX = 200 };

struct json_node;
struct json_reader {
    const char *file; // for messages
    struct errors *errors;
    int status; // 0, -EINVAL (errors say why) or -ENOMEM
    // For files of others: an invalid entry disables only that entry, and json_forgive goes on. Of a duplicate key the
    // first is used.
    bool lenient;
    size_t values_max; // instead of JSON_VALUES_MAX; 0: that one
    // For a document made of several files: the one in which a value stands, NULL: `file`. NULL: all stand in it.
    const char *(*file_of)(const void *context, const struct json_node *node);
    const void *file_context;
};

// Call it after an entry that may have been reported as invalid: a lenient reader goes on.
void json_forgive(struct json_reader *reader);

// A value and its position. Nodes live on the stack, children after their parents.
struct json_node {
    struct json_reader *reader;
    const struct json_node *parent; // NULL: the whole document
    const char *key;                // NULL: an element of an array
    size_t index;                   // of an element
    const cJSON *value;             // NULL: absent
};

enum json_need { JSON_OPTIONAL, JSON_REQUIRED };

// Reads a regular file of at most `size_max` bytes. Returns 0 and a buffer for free(), -EINVAL with an error added,
// -ENOMEM.
int json_read_file(const char *path, size_t size_max, struct errors *errors, char **text, size_t *length);

// The same for many files, one after the other, in one buffer that starts all zero; free(buffer.text).
struct json_buffer {
    char *text;
    size_t room;
};
int json_read_again(const char *path, size_t size_max, struct errors *errors, struct json_buffer *buffer,
                    size_t *length);

// Parses text that must be valid UTF-8 and JSON, at most `depth_max` deep, without duplicate keys, with an object as
// the document. Returns NULL if it is not, with the reason in the reader. Free with cJSON_Delete.
cJSON *json_parse(struct json_reader *reader, const char *text, size_t length, size_t depth_max);

// The same for any value, without checking for duplicate keys.
cJSON *json_parse_value(struct json_reader *reader, const char *text, size_t length, size_t depth_max);

// json_parse with the text of the reader's file, at most `size_max` bytes.
cJSON *json_load(struct json_reader *reader, size_t size_max, size_t depth_max);

// A file's name without folder and ".json", for free(); NULL if out of memory.
char *json_file_stem(const char *file);

struct json_node json_root(struct json_reader *reader, const cJSON *document);
struct json_node json_child(const struct json_node *parent, const cJSON *value, size_t index);

// Adds an error about this value. A node without a value reports that it is missing.
void json_fail(const struct json_node *node, const char *format, ...) __attribute__((format(printf, 2, 3)));
void json_fail_memory(const struct json_node *node);

// json_fail, with the candidate nearest to `word` as a suggestion after the text.
void json_fail_suggest(const struct json_node *node, const char *word, const char *const *candidates, size_t n,
                       const char *text);

// Adds an error for each key of the object that is not one of `keys`.
void json_check_keys(const struct json_node *object, const char *const *keys, size_t n);

// Getters of a member. True if *out was filled. False, with *out untouched, if the member is absent (or null); if it is
// required or of a wrong type, an error is added.
bool json_get_text(const struct json_node *object, const char *key, enum json_need need, const char **out);
bool json_get_number(const struct json_node *object, const char *key, enum json_need need, double min, double max,
                     double *out);
bool json_get_count(const struct json_node *object, const char *key, enum json_need need, unsigned min, unsigned max,
                    unsigned *out);
bool json_get_bool(const struct json_node *object, const char *key, enum json_need need, bool *out);
bool json_get_object(const struct json_node *object, const char *key, enum json_need need, struct json_node *out);
bool json_get_array(const struct json_node *object, const char *key, enum json_need need, size_t max,
                    struct json_node *out);

// The same for a value already at hand.
bool json_is_object(const struct json_node *node);
bool json_is_number(const struct json_node *node, double min, double max);

// Gets an array of at most `max` texts without duplicates. *out is for free(); the document owns the texts.
bool json_get_texts(const struct json_node *object, const char *key, enum json_need need, size_t max, const char ***out,
                    size_t *n);
bool json_texts(const struct json_node *array, size_t max, const char ***out, size_t *n);

#endif
