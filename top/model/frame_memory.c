// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "top/model/frame.h"
#include "top/model/page.h"

// Values of NUMA nodes, sockets or the host; an absent object leaves all of them NAN.
static void read_values(const struct json_node *object, float values[MEMORY_METRICS_N]) {
    struct json_node all;
    bool found = page_object(object, "values", &all);
    for (size_t i = 0; i < MEMORY_METRICS_N; i++)
        values[i] = found ? (float)page_number(&all, memory_metrics[i].name) : NAN;
}

static int number_of(const struct json_node *object, const char *key) {
    double number = page_number(object, key);
    return number >= 0 && number <= 1e6 ? (int)number : -1;
}

static int read_nodes(struct arena *arena, const struct json_node *root, struct frame_memory *out) {
    struct json_node array;
    const cJSON *child;
    if (!page_array(root, "nodes", FRAME_NUMA_MAX, &array))
        return -EINVAL;
    struct frame_numa *nodes = arena_take(arena, (size_t)cJSON_GetArraySize(array.value) + 1, sizeof *nodes);
    if (!nodes)
        return -ENOMEM;
    cJSON_ArrayForEach(child, array.value) {
        const struct json_node object = json_child(&array, child, 0);
        struct frame_numa *node = &nodes[out->n_nodes++];
        *node = (struct frame_numa){.id = number_of(&object, "node"),
                                    .socket = number_of(&object, "socket"),
                                    .tier = number_of(&object, "tier"),
                                    .kind = page_text(&object, "kind", arena, ""),
                                    .bytes = page_number(&object, "bytes"),
                                    .free_bytes = page_number(&object, "free_bytes")};
        read_values(&object, node->values);
        if (!node->kind)
            return -ENOMEM;
    }
    out->nodes = nodes;
    return 0;
}

static int read_sockets(struct arena *arena, const struct json_node *root, struct frame_memory *out) {
    struct json_node resctrl, array;
    const cJSON *child;
    if (!page_object(root, "resctrl", &resctrl) || !page_array(&resctrl, "sockets", FRAME_NUMA_MAX, &array))
        return -EINVAL;
    struct frame_resctrl *sockets = arena_take(arena, (size_t)cJSON_GetArraySize(array.value) + 1, sizeof *sockets);
    if (!sockets)
        return -ENOMEM;
    cJSON_ArrayForEach(child, array.value) {
        const struct json_node object = json_child(&array, child, 0);
        struct frame_resctrl *socket = &sockets[out->n_sockets++];
        *socket = (struct frame_resctrl){.id = number_of(&object, "socket"),
                                         .controllers = page_number(&object, "controllers_bytes_per_second")};
        read_values(&object, socket->values);
    }
    out->sockets = sockets;
    return 0;
}

int frame_add_memory(struct frame *frame, const char *text, size_t length, char why[static PAGE_WHY_MAX]) {
    struct frame_memory read = {.present = true};
    struct page page;
    int r = page_open(&page, text, length, why);
    if (r == 0)
        r = read_nodes(&frame->arena, &page.root, &read);
    if (r == 0)
        r = read_sockets(&frame->arena, &page.root, &read);
    if (r == 0) {
        read.seconds = page_number(&page.root, "interval_seconds");
        read.reason = page_text(&page.root, "reason", &frame->arena, "");
        read_values(&page.root, read.values);
        r = read.reason ? 0 : -ENOMEM;
    }
    page_close(&page);
    if (r == 0)
        frame->memory = read;
    if (r == -EINVAL && why[0] == '\0')
        (void)snprintf(why, PAGE_WHY_MAX, "its answer is not /api/v1/memory of topdownd");
    return r;
}
