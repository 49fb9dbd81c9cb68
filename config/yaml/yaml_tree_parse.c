// SPDX-License-Identifier: Apache-2.0
//
// Builds a tree from libyaml's events.
//
// Each function that takes an event from the parser deletes it; a tree is attached to its parent as soon as it is
// complete, so a function that fails frees only its own data. YAML's features beyond plain data (anchors, aliases,
// tags, several documents, mappings as keys) are refused: they surprise readers, and aliases can make a small file
// explode.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "config/yaml/yaml_tree.h"

struct reader {
    yaml_parser_t parser;
    const char *file, *text;
    size_t length;
    size_t *nodes_left;
    struct errors *errors;
};

static struct config_origin origin_of_mark(const struct reader *reader, const yaml_mark_t *mark) {
    return (struct config_origin){reader->file, (unsigned)mark->line + 1, (unsigned)mark->column + 1};
}

static bool begins_character(char c) { return ((unsigned char)c & 0xc0) != 0x80; }

static struct config_origin origin_of_offset(const struct reader *reader, size_t offset) {
    struct config_origin origin = {reader->file, 1, 1};
    for (size_t i = 0; i < offset && i < reader->length; i++) {
        if (reader->text[i] == '\n') {
            origin.line++;
            origin.column = 1;
        } else if (begins_character(reader->text[i])) {
            origin.column++;
        }
    }
    return origin;
}

// libyaml's marks count characters, not bytes.
static bool is_tab(const struct reader *reader, const yaml_mark_t *mark) {
    size_t character = 0;
    for (size_t i = 0; i < reader->length; i++) {
        if (!begins_character(reader->text[i]))
            continue;
        if (character++ == mark->index)
            return reader->text[i] == '\t';
    }
    return false;
}

static int report_problem(const struct reader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return -ENOMEM;
    if (parser->error == YAML_READER_ERROR) {
        struct config_origin origin = origin_of_offset(reader, parser->problem_offset);
        return yaml_tree_error(reader->errors, &origin, "%s: a configuration is UTF-8 text without control characters",
                               parser->problem);
    }
    struct config_origin origin = origin_of_mark(reader, &parser->problem_mark);
    if (is_tab(reader, &parser->problem_mark))
        return yaml_tree_error(reader->errors, &origin, "YAML allows no tab here: use spaces");
    if (!parser->context)
        return yaml_tree_error(reader->errors, &origin, "this is not YAML: %s", parser->problem);
    return yaml_tree_error(reader->errors, &origin, "this is not YAML: %s %s that begins in line %zu", parser->problem,
                           parser->context, parser->context_mark.line + 1);
}

static int next_event(struct reader *reader, yaml_event_t *event) {
    return yaml_parser_parse(&reader->parser, event) ? 0 : report_problem(reader);
}

static void refuse_properties(const struct reader *reader, const struct config_origin *origin,
                              const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (anchor)
        (void)yaml_tree_error(reader->errors, origin, "anchors such as \"&%s\" are not supported: write the value out",
                              yaml_tree_word((const char *)anchor).text);
    if (tag)
        (void)yaml_tree_error(reader->errors, origin, "tags such as \"%s\" are not supported: remove it",
                              yaml_tree_word((const char *)tag).text);
}

static int read_scalar(const struct reader *reader, const yaml_event_t *event, char **out) {
    struct config_origin origin = origin_of_mark(reader, &event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    if (strlen(value) != event->data.scalar.length)
        return yaml_tree_error(reader->errors, &origin, "a text must not contain the character NUL: remove \"\\0\"");
    refuse_properties(reader, &origin, event->data.scalar.anchor, event->data.scalar.tag);
    char *copy = strdup(value);
    if (!copy)
        return -ENOMEM;
    *out = copy;
    return 0;
}

static int read_node(struct reader *reader, const yaml_event_t *event, unsigned depth, struct yaml_tree **out);

static int read_next_node(struct reader *reader, unsigned depth, struct yaml_tree **out) {
    yaml_event_t event;
    int r = next_event(reader, &event);
    if (r < 0)
        return r;
    r = read_node(reader, &event, depth, out);
    yaml_event_delete(&event);
    return r;
}

static int read_entry(struct reader *reader, const yaml_event_t *event, unsigned depth, struct yaml_tree *map) {
    struct yaml_tree_entry entry = {.key_origin = origin_of_mark(reader, &event->start_mark)};
    if (event->type != YAML_SCALAR_EVENT)
        return yaml_tree_error(reader->errors, &entry.key_origin,
                               "a key must be a single word: an address such as \"[::1]:10813\" needs quotes");
    int r = read_scalar(reader, event, &entry.key);
    if (r < 0)
        return r;
    r = read_next_node(reader, depth + 1, &entry.value);
    if (r < 0) {
        free(entry.key);
        return r;
    }
    return yaml_tree_add(map, entry, reader->errors);
}

static int read_item(struct reader *reader, const yaml_event_t *event, unsigned depth, struct yaml_tree *list) {
    struct yaml_tree *value;
    int r = read_node(reader, event, depth + 1, &value);
    return r < 0 ? r : yaml_tree_append(list, value);
}

static int read_collection(struct reader *reader, unsigned depth, struct yaml_tree *tree) {
    if (depth > YAML_TREE_DEPTH_MAX)
        return yaml_tree_error(reader->errors, &tree->origin, "nested deeper than %d levels", YAML_TREE_DEPTH_MAX);
    for (;;) {
        yaml_event_t event;
        int r = next_event(reader, &event);
        if (r < 0)
            return r;
        bool end = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (!end)
            r = tree->kind == YAML_TREE_MAP ? read_entry(reader, &event, depth, tree)
                                            : read_item(reader, &event, depth, tree);
        yaml_event_delete(&event);
        if (end || r < 0)
            return r;
    }
}

static int fill_node(struct reader *reader, const yaml_event_t *event, unsigned depth, struct yaml_tree *tree) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        tree->kind = YAML_TREE_SCALAR;
        tree->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return read_scalar(reader, event, &tree->text);
    case YAML_SEQUENCE_START_EVENT:
        tree->kind = YAML_TREE_LIST;
        refuse_properties(reader, &tree->origin, event->data.sequence_start.anchor, event->data.sequence_start.tag);
        return read_collection(reader, depth, tree);
    case YAML_MAPPING_START_EVENT:
        tree->kind = YAML_TREE_MAP;
        refuse_properties(reader, &tree->origin, event->data.mapping_start.anchor, event->data.mapping_start.tag);
        return read_collection(reader, depth, tree);
    default: // the parser emits no other event here
        return yaml_tree_error(reader->errors, &tree->origin,
                               "aliases such as \"*%s\" are not supported: write the value out, or, where it "
                               "is a pattern, put it in quotes",
                               yaml_tree_word((const char *)event->data.alias.anchor).text);
    }
}

static int read_node(struct reader *reader, const yaml_event_t *event, unsigned depth, struct yaml_tree **out) {
    struct config_origin origin = origin_of_mark(reader, &event->start_mark);
    if (*reader->nodes_left == 0)
        return yaml_tree_error(reader->errors, &origin, "more than %d values in all files", YAML_TREE_NODES_MAX);
    --*reader->nodes_left;
    struct yaml_tree *tree = calloc(1, sizeof *tree);
    if (!tree)
        return -ENOMEM;
    tree->origin = origin;
    int r = fill_node(reader, event, depth, tree);
    if (r < 0) {
        yaml_tree_free(tree);
        return r;
    }
    *out = tree;
    return 0;
}

// Every form of an empty file is an empty mapping.
static int check_root(const struct reader *reader, struct yaml_tree *root) {
    if (root->kind == YAML_TREE_MAP)
        return 0;
    if (!yaml_tree_is_null(root))
        return yaml_tree_error(reader->errors, &root->origin,
                               "the file must be a mapping of keys to values, such as \"slot: 200ms\"");
    free(root->text);
    root->text = NULL;
    root->kind = YAML_TREE_MAP;
    return 0;
}

static int read_documents(struct reader *reader, struct yaml_tree **root) {
    for (;;) {
        yaml_event_t event;
        int r = next_event(reader, &event);
        if (r < 0)
            return r;
        yaml_event_type_t type = event.type;
        struct config_origin origin = origin_of_mark(reader, &event.start_mark);
        yaml_event_delete(&event);
        if (type == YAML_STREAM_END_EVENT)
            break;
        if (type != YAML_DOCUMENT_START_EVENT)
            continue;
        if (*root)
            return yaml_tree_error(reader->errors, &origin,
                                   "a second document begins here: one file holds one, put the other into conf.d");
        r = read_next_node(reader, 1, root);
        if (r < 0)
            return r;
    }
    if (!*root) {
        *root = calloc(1, sizeof **root);
        if (!*root)
            return -ENOMEM;
        (*root)->kind = YAML_TREE_MAP;
        (*root)->origin = (struct config_origin){reader->file, 1, 1};
    }
    return check_root(reader, *root);
}

int yaml_tree_parse(const char *file, const char *text, size_t length, size_t *nodes_left, struct errors *errors,
                    struct yaml_tree **out) {
    struct reader reader = {.file = file, .text = text, .length = length, .nodes_left = nodes_left, .errors = errors};
    if (length > YAML_TREE_BYTES_MAX)
        return errors_add(errors, file, 0, 0, "larger than %d bytes", YAML_TREE_BYTES_MAX);
    const char *nul = length > 0 ? memchr(text, '\0', length) : NULL;
    if (nul) {
        struct config_origin origin = origin_of_offset(&reader, (size_t)(nul - text));
        return yaml_tree_error(errors, &origin, "a NUL byte: a configuration is UTF-8 text");
    }
    if (!yaml_parser_initialize(&reader.parser))
        return -ENOMEM;
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)(length > 0 ? text : ""), length);
    struct yaml_tree *root = NULL;
    int r = read_documents(&reader, &root);
    yaml_parser_delete(&reader.parser);
    if (r < 0) {
        yaml_tree_free(root);
        return r;
    }
    *out = root;
    return 0;
}
