// SPDX-License-Identifier: Apache-2.0
#include "top/model/host.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/model/page.h"

enum { TYPES_MAX = 16, SOCKETS_MAX = 1024, CPU_TEXT_MAX = 200 };

static const char *first_error(const struct json_node *object, struct arena *arena) {
    struct json_node errors;
    if (!page_array(object, "pmu_errors", SOCKETS_MAX, &errors) || !errors.value->child)
        return "";
    const struct json_node error = json_child(&errors, errors.value->child, 0);
    return page_text(&error, "text", arena, "");
}

static void count_cpus(const struct json_node *object, struct host *host) {
    struct json_node sockets;
    unsigned n = 0;
    const cJSON *child;
    if (!page_array(object, "sockets", SOCKETS_MAX, &sockets))
        return;
    cJSON_ArrayForEach(child, sockets.value) {
        const struct json_node socket = json_child(&sockets, child, 0);
        double cpus = page_number(&socket, "cpus_measured");
        host->cpus += cpus >= 0 && cpus <= 1e6 ? (unsigned)cpus : 0;
        n++;
    }
    host->sockets = n > host->sockets ? n : host->sockets;
}

static bool read_type(const struct json_node *object, struct host *host) {
    struct json_node cpu = {.value = NULL};
    struct arena *arena = &host->arena;
    (void)page_object(object, "cpu", &cpu);
    const char *model = page_text(&cpu, "model", arena, "unknown CPU");
    char models[CPU_TEXT_MAX];
    if (!model || !host->cpu)
        return false;
    if (!strstr(host->cpu, model)) {
        (void)snprintf(models, sizeof models, "%.90s%s%.90s", host->cpu, host->cpu[0] != '\0' ? " + " : "", model);
        host->cpu = arena_text(arena, models, sizeof models);
    }
    host->name = page_text(object, "hostname", arena, "?");
    host->version = page_text(object, "version", arena, "?");
    if (!host->trouble || host->trouble[0] == '\0')
        host->trouble = first_error(object, arena);
    count_cpus(object, host);
    return host->cpu && host->name && host->version && host->trouble;
}

int host_read(const char *text, size_t length, struct host **out, char why[static PAGE_WHY_MAX]) {
    struct page page;
    struct json_node types;
    struct host *host = calloc(1, sizeof *host);
    int r = page_open(&page, text, length, why);
    if (!host)
        r = -ENOMEM;
    if (host) {
        host->cpu = host->trouble = "";
        host->name = host->version = "?";
    }
    if (r == 0 && page_array(&page.root, "core_types", TYPES_MAX, &types)) {
        const cJSON *child;
        cJSON_ArrayForEach(child, types.value) {
            const struct json_node object = json_child(&types, child, 0);
            r = r == 0 && !read_type(&object, host) ? -ENOMEM : r;
        }
    } else if (r == 0)
        r = read_type(&page.root, host) ? 0 : -ENOMEM;
    page_close(&page);
    if (r < 0) {
        host_free(host);
        return r;
    }
    *out = host;
    return 0;
}

struct host *host_free(struct host *host) {
    if (host)
        arena_deinit(&host->arena);
    free(host);
    return NULL;
}
