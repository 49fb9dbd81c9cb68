// SPDX-License-Identifier: Apache-2.0
#include "top/model/frame.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/model/page.h"

enum { DEPTH_MAX = 32 };

static enum frame_answer answer(const struct json_node *object, const char *key) {
    int is = page_bool(object, key);
    return is < 0 ? FRAME_UNKNOWN : is ? FRAME_YES : FRAME_NO;
}

static struct frame_value value_of(const struct json_node *object) {
    return (struct frame_value){.value = (float)page_number(object, "value"),
                                .low = (float)page_number(object, "low"),
                                .high = (float)page_number(object, "high"),
                                .exact = page_bool(object, "exact") == 1};
}

// ---- the tree ----

struct tree {
    struct frame *frame;
    struct frame_node *nodes; // room for FRAME_NODES_MAX; NULL: only count
    size_t n;
    const char *path[FRAME_PATH_MAX];
    size_t n_path;
    bool failed; // no memory
};

static bool complete(const struct frame_node *node) {
    return node->metric && node->title && node->unit && node->meaning && node->threshold && node->reason &&
           node->next && node->command && node->quality && node->quality_reason;
}

static void add_node(struct tree *tree, const struct json_node *object, unsigned depth, bool parent) {
    struct arena *arena = &tree->frame->arena;
    struct frame_node *node = &tree->nodes[tree->n++];
    *node = (struct frame_node){.metric = page_text(object, "metric", arena, "?"),
                                .title = page_text(object, "title", arena, "?"),
                                .unit = page_text(object, "unit", arena, ""),
                                .meaning = page_text(object, "meaning", arena, ""),
                                .threshold = page_text(object, "threshold", arena, ""),
                                .reason = page_text(object, "reason", arena, ""),
                                .next = page_names(object, "next_groups", arena),
                                .command = page_text(object, "sample_command", arena, ""),
                                .quality = page_text(object, "quality", arena, ""),
                                .quality_reason = page_text(object, "quality_reason", arena, ""),
                                .is = value_of(object),
                                .share_of_time = (float)page_number(object, "share_of_time"),
                                .depth = depth,
                                .parent = parent,
                                .exceeded = answer(object, "exceeded"),
                                .certain = answer(object, "exceeded_certain")};
    tree->failed = tree->failed || !complete(node);
    for (size_t i = 0; i < tree->n_path && !tree->failed; i++)
        node->in_path = node->in_path || strcmp(tree->path[i], node->metric) == 0;
}

static void walk(struct tree *tree, const struct json_node *array, unsigned depth) {
    const cJSON *child;
    cJSON_ArrayForEach(child, array->value) {
        const struct json_node object = json_child(array, child, 0);
        struct json_node children;
        if (tree->n == FRAME_NODES_MAX || tree->failed || !cJSON_IsObject(child))
            return;
        bool has =
            depth < DEPTH_MAX && page_array(&object, "children", FRAME_NODES_MAX, &children) && children.value->child;
        if (tree->nodes)
            add_node(tree, &object, depth, has);
        else
            tree->n++;
        if (has)
            walk(tree, &children, depth + 1);
    }
}

static int read_tree(struct tree *tree, const struct json_node *array, struct frame_type *type) {
    walk(tree, array, 0);
    tree->nodes = arena_take(&tree->frame->arena, tree->n + 1, sizeof *tree->nodes);
    if (!tree->nodes)
        return -ENOMEM;
    tree->n = 0;
    walk(tree, array, 0);
    type->nodes = tree->nodes;
    type->n_nodes = tree->n;
    return tree->failed ? -ENOMEM : 0;
}

// ---- a core type ----

static void read_path(const struct json_node *bound, struct tree *tree) {
    struct json_node path;
    const cJSON *name;
    if (!page_array(bound, "path", FRAME_PATH_MAX, &path))
        return;
    cJSON_ArrayForEach(name, path.value) if (cJSON_IsString(name)) tree->path[tree->n_path++] = name->valuestring;
}

static int read_bound(const struct json_node *object, struct tree *tree, struct frame_bound *out) {
    struct arena *arena = &tree->frame->arena;
    struct json_node bound, memory;
    *out = (struct frame_bound){.next = "",
                                .command = "",
                                .since_seconds = (double)NAN,
                                .memory_bytes = (double)NAN,
                                .memory_peak = (double)NAN};
    out->known = page_object(object, "bound", &bound);
    if (out->known) {
        read_path(&bound, tree);
        out->text = page_text(&bound, "text", arena, "?");
        out->next = page_names(&bound, "next_groups", arena);
        out->command = page_text(&bound, "sample_command", arena, "");
        out->since_seconds = page_number(&bound, "since_timestamp_seconds");
        out->at_least = page_bool(&bound, "since_at_least") > 0;
        if (page_object(&bound, "memory", &memory)) {
            out->memory_bytes = page_number(&memory, "bytes_per_second");
            out->memory_peak = page_number(&memory, "peak_bytes_per_second");
            out->peak_exceeded = page_bool(&memory, "peak_exceeded") > 0;
        }
    } else
        out->text = page_text(object, "bound_reason", arena, "nothing is known yet");
    return out->text && out->next && out->command ? 0 : -ENOMEM;
}

// Of the host; a daemon of an earlier version has none.
static int read_bottlenecks(struct arena *arena, const struct json_node *host, struct frame_type *type) {
    struct json_node array;
    const cJSON *child;
    if (!page_array(host, "bottlenecks", FRAME_BOTTLENECKS_MAX, &array))
        return 0;
    struct frame_bottleneck *all = arena_take(arena, FRAME_BOTTLENECKS_MAX, sizeof *all);
    if (!all)
        return -ENOMEM;
    cJSON_ArrayForEach(child, array.value) {
        const struct json_node object = json_child(&array, child, 0);
        struct frame_bottleneck *one = &all[type->n_bottlenecks++];
        if (!cJSON_IsObject(child))
            return -EINVAL;
        *one = (struct frame_bottleneck){.title = page_text(&object, "title", arena, "?"),
                                         .remedy = page_text(&object, "remedy", arena, ""),
                                         .reason = page_text(&object, "reason", arena, ""),
                                         .is = value_of(&object),
                                         .rest = page_bool(&object, "rest") == 1};
        if (!one->title || !one->remedy || !one->reason)
            return -ENOMEM;
    }
    type->bottlenecks = all;
    return 0;
}

static int read_type(struct frame *frame, const struct json_node *object) {
    struct frame_type *type = &frame->types[frame->n_types++];
    struct tree tree = {.frame = frame};
    struct json_node scopes, nodes, round;
    if (page_object(object, "round", &round)) {
        frame->end_ns = fmax(frame->end_ns, page_number(&round, "end_ns")); // of the type that was last
        frame->round_seconds = page_number(&round, "seconds");
        double begun_ns = page_number(&round, "values_start_ns"), ended_ns = page_number(&round, "values_end_ns");
        frame->values_seconds = (ended_ns - begun_ns) * 1e-9;
        frame->values_age = (page_number(&round, "end_ns") - ended_ns) * 1e-9;
    }
    frame->timestamp_seconds = fmax(frame->timestamp_seconds, page_number(object, "timestamp_seconds"));
    frame->sequence = fmax(frame->sequence, page_number(object, "sequence"));
    frame->simulated = page_bool(object, "simulated") == 1;
    frame->replay = page_bool(object, "replay") == 1;
    type->name = page_text(object, "core_type", &frame->arena, "");
    int r = type->name ? read_bound(object, &tree, &type->bound) : -ENOMEM;
    if (r < 0 || !page_array(object, "scopes", FRAME_UNITS_MAX, &scopes) || !scopes.value->child)
        return r;
    const struct json_node host = json_child(&scopes, scopes.value->child, 0);
    r = read_bottlenecks(&frame->arena, &host, type);
    return r == 0 && page_array(&host, "tree", FRAME_NODES_MAX, &nodes) ? read_tree(&tree, &nodes, type) : r;
}

// ---- the page ----

// Calls `read` for the page, or for each of its core types.
static int each_type(struct frame *frame, const struct json_node *root,
                     int (*read)(struct frame *, const struct json_node *)) {
    struct json_node types;
    const cJSON *child;
    int r = 0;
    if (!page_array(root, "core_types", FRAME_TYPES_MAX, &types))
        return read(frame, root);
    cJSON_ArrayForEach(child, types.value) {
        const struct json_node object = json_child(&types, child, 0);
        if (r == 0)
            r = cJSON_IsObject(child) ? read(frame, &object) : -EINVAL;
    }
    return r;
}

static bool is_topdown(const struct json_node *root) {
    return cJSON_HasObjectItem(root->value, "core_types") ||
           (cJSON_HasObjectItem(root->value, "bound") && cJSON_HasObjectItem(root->value, "scopes"));
}

int frame_read(const char *text, size_t length, struct frame **out, char why[static PAGE_WHY_MAX]) {
    struct page page;
    struct frame *frame = calloc(1, sizeof *frame);
    int r = page_open(&page, text, length, why);
    if (r == 0 && frame && !is_topdown(&page.root)) {
        (void)snprintf(why, PAGE_WHY_MAX, "its answer is not /api/v1/topdown of topdownd");
        r = -EINVAL;
    }
    if (r == 0 && frame) {
        frame->timestamp_seconds = frame->round_seconds = (double)NAN;
        frame->values_seconds = frame->values_age = (double)NAN;
        r = each_type(frame, &page.root, read_type);
        frame->bound_text =
            page_text(&page.root, "bound_text", &frame->arena,
                      frame->n_types > 0 && frame->types[0].bound.text ? frame->types[0].bound.text : "");
    }
    if (!frame || (r == 0 && !frame->bound_text))
        r = -ENOMEM;
    if (r == -EINVAL && why[0] == '\0')
        (void)snprintf(why, PAGE_WHY_MAX, "its answer is not /api/v1/topdown of topdownd");
    page_close(&page);
    if (r < 0)
        frame_free(frame);
    else
        *out = frame;
    return r;
}

struct frame *frame_free(struct frame *frame) {
    if (frame)
        arena_deinit(&frame->arena);
    free(frame);
    return NULL;
}
