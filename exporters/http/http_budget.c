// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_budget.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "exporters/http/http_connections.h"

// ---- readers that are connections ----

static struct http_connection *connection_of(const struct http_reader *reader) {
    return (struct http_connection *)((uintptr_t)reader - offsetof(struct http_connection, reader));
}

// 0 where the kernel does not tell it: then the one that asked first is the slowest.
static uint64_t acknowledged(const struct http_reader *reader) {
    struct tcp_info info = {.tcpi_bytes_acked = 0};
    socklen_t length = sizeof(info);
    if (getsockopt(connection_of(reader)->fd, IPPROTO_TCP, TCP_INFO, &info, &length) < 0 ||
        length < offsetof(struct tcp_info, tcpi_bytes_acked) + sizeof(info.tcpi_bytes_acked))
        return 0;
    return info.tcpi_bytes_acked;
}

static void reset_connection(struct http_reader *reader) { http_connection_end(connection_of(reader)); }

// ---- loads ----

static void judge_leaving(struct http_budget *budget, struct http_load *load) {
    bool leaving = !load->kept && load->n_readers == 0;
    if (leaving && !load->leaving)
        budget->leaving += load->bytes;
    else if (!leaving && load->leaving)
        budget->leaving -= load->bytes;
    load->leaving = leaving;
}

void http_budget_resize(struct http_budget *budget, struct http_load *load, size_t bytes) {
    budget->bytes = budget->bytes - load->bytes + bytes;
    if (load->leaving)
        budget->leaving = budget->leaving - load->bytes + bytes;
    load->bytes = bytes;
}

void http_budget_keep(struct http_budget *budget, struct http_load *load, bool kept) {
    load->kept = kept;
    judge_leaving(budget, load);
}

// The library may give up an answer before it tells of the answer's end.
static struct http_reader *find_reader(const struct http_budget *budget, const struct http_load *load) {
    struct http_reader *reader = budget->readers;
    while (reader && reader->load != load)
        reader = reader->next;
    return reader;
}

void http_budget_give(struct http_budget *budget, struct http_load *load) {
    while (load->n_readers > 0)
        http_budget_end(budget, find_reader(budget, load));
    http_budget_resize(budget, load, 0);
}

// ---- readers ----

static uint64_t progress_of(const struct http_budget *budget, const struct http_reader *reader) {
    return budget->progress ? budget->progress(reader) : acknowledged(reader);
}

void http_budget_begin(struct http_budget *budget, struct http_reader *reader, struct http_load *load,
                       uint64_t now_ms) {
    http_budget_end(budget, reader);
    bool small = load->bytes <= HTTP_UNREAD_BYTES_MAX; // the kernel takes all of it at once
    *reader = (struct http_reader){.load = load,
                                   .next = budget->readers,
                                   .unread_max = small ? load->bytes : HTTP_UNREAD_BYTES_MAX,
                                   .since_ms = now_ms,
                                   .before = small ? 0 : progress_of(budget, reader)};
    budget->readers = reader;
    budget->unread += reader->unread_max;
    load->n_readers++;
    judge_leaving(budget, load);
}

void http_budget_end(struct http_budget *budget, struct http_reader *reader) {
    struct http_load *load = reader->load;
    if (!load)
        return;
    struct http_reader **place = &budget->readers;
    while (*place != reader)
        place = &(*place)->next;
    *place = reader->next;
    budget->unread -= reader->unread_max;
    load->n_readers--;
    *reader = (struct http_reader){.load = NULL};
    judge_leaving(budget, load);
}

bool http_budget_fits(const struct http_budget *budget, size_t more) {
    return budget->bytes - budget->leaving + budget->unread + more <= HTTP_ANSWER_BYTES_MAX;
}

bool http_budget_allows(const struct http_budget *budget, size_t more) {
    return budget->bytes + budget->unread + more <= HTTP_ANSWER_BYTES_LIMIT;
}

struct pace {
    uint64_t bytes, ms;
};

static struct pace pace_of(const struct http_budget *budget, const struct http_reader *reader, uint64_t now_ms) {
    uint64_t progress = progress_of(budget, reader);
    return (struct pace){.bytes = HTTP_UNREAD_BYTES_MAX + (progress > reader->before ? progress - reader->before : 0),
                         .ms = now_ms > reader->since_ms ? now_ms - reader->since_ms : 1};
}

// Readers are listed from the newest on: of equals the one that began first is the slowest.
bool http_budget_reset_slowest(struct http_budget *budget, uint64_t now_ms) {
    struct http_reader *slowest = NULL;
    struct pace least = {0, 1};
    for (struct http_reader *reader = budget->readers; reader; reader = reader->next) {
        struct pace pace = pace_of(budget, reader, now_ms);
        if (slowest && pace.bytes * least.ms > least.bytes * pace.ms)
            continue;
        slowest = reader;
        least = pace;
    }
    if (!slowest)
        return false;
    http_budget_end(budget, slowest);
    if (budget->reset)
        budget->reset(slowest);
    else
        reset_connection(slowest);
    return true;
}
