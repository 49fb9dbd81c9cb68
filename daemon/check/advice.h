// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_CHECK_ADVICE_H
#define TOPDOWND_DAEMON_CHECK_ADVICE_H

// What a right configuration had better not say, and what this host lacks for it. Each piece of advice has a word that
// stays the same in every version.

#include <stdbool.h>
#include <stddef.h>

#include "daemon/source/setup.h"
#include "exporters/text/json_writer.h"

struct web;

struct advice {
    struct advice_item {
        const char *check;       // a literal
        const char *prefix;      // "" or that of a core type; borrowed
        const char *remedy;      // a literal; NULL: the text has it
        bool of_host;            // of this host, whatever the configuration says
        struct config_origin at; // what the configuration says there; no line: no place of its own
        char *text;
    } * items;
    size_t n, capacity;
    bool failed; // out of memory: later advice is dropped
};

void advice_add(struct advice *advice, const char *check, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The same of a core type, whose prefix is borrowed, and whether it is the host that lacks something.
void advice_add_of(struct advice *advice, const char *prefix, bool of_host, const char *check, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// Where the newest advice has its reason; without a file nobody has written it.
void advice_place(struct advice *advice, struct config_origin at);
void advice_deinit(struct advice *advice);

// True if any of it is about the configuration, and not about the host.
bool advice_of_configuration(const struct advice *advice);

// A line for each on standard output; or an array.
void advice_print(const struct advice *advice);
void advice_print_json(const struct advice *advice, const char *key, struct json *json);

// advice_outputs.c: recording, text file, addresses and their protection. `web`: the web configuration, NULL if there
// is none; `sockets`: systemd passes the addresses.
void advice_outputs(const struct setup *setup, const struct web *web, bool sockets, struct advice *advice);

// advice_settings.c: the profile's settings.
void advice_settings(const struct setup *setup, struct advice *advice);
// advice_rules.c: the rules that choose the profile.
void advice_hosts(const struct setup *setup, struct advice *advice);
// advice_uncore.c: what was noted of kinds, and of PMUs that the configuration names; and what `uncore` says that this
// host lacks, or says otherwise.
void advice_troubles(const struct setup *setup, struct advice *advice);
void advice_uncore(const struct setup *setup, const struct options *options, struct advice *advice);
// A metric group of which nothing can be measured: why, if the catalog alone tells it, and what measures it then.
void advice_group(struct advice *advice, const char *prefix, const struct catalog *catalog, unsigned group);
// Where the profile names the group; where it is one of several that a word stands for, the list.
struct config_origin advice_place_of_group(const struct config *config, const struct config_profile *profile,
                                           const struct catalog *catalog, unsigned group);
// What of the core type's groups its plan cannot have.
void advice_plan(const struct setup *setup, const struct core_type *type, const struct plan *plan,
                 struct advice *advice);

#endif
