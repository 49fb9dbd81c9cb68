// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "core/host/cpu_names.h"
#include "daemon/check/advice.h"

// Rules of `hosts` that take no host.

static bool is_any(const char *pattern) { return !pattern || strcmp(pattern, "*") == 0; }

static bool same_pattern(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static void advise_order(const struct config *config, struct advice *advice) {
    for (size_t i = 1; i < config->n_hosts; i++)
        for (size_t j = 0; j < i; j++) {
            const struct config_host *rule = &config->hosts[i], *before = &config->hosts[j];
            bool hides = (is_any(before->hostname) || same_pattern(before->hostname, rule->hostname)) &&
                         (is_any(before->cpu) || same_pattern(before->cpu, rule->cpu)) &&
                         (!before->file || same_pattern(before->file, rule->file));
            if (!hides)
                continue;
            advice_add(advice, "rule_never_reached", "move it up, or remove it",
                       "hosts: rule %zu (profile %s) is never reached: rule %zu takes every host that it matches",
                       i + 1, config->profiles[rule->profile].name, j + 1);
            advice_place(advice, rule->origin);
            break;
        }
}

// Rules with a CPU for which there is no spec. The names of a vendor's files are known only for this host's CPUs.

static bool has_spec(const struct setup *setup, const char *pattern) {
    bool found = setup->config->specs.path ||
                 config_cpu_matches(pattern, (const char *const *)setup->specs.names, setup->specs.n);
    for (size_t i = 0; i < setup->n_types; i++)
        found =
            found || config_cpu_matches(pattern, (const char *[]){setup->types[i].source->catalog->product.spec}, 1);
    return found;
}

// The spec of the CPUs that are sold under this name, else the one whose name is nearest; NULL: there is none.
static const char *find_near(const struct specs *specs, const char *name) {
    for (size_t i = 0; i < specs->cpus.n; i++)
        if (cpu_row_is_called(&specs->cpus.rows[i], name))
            return specs->cpus.rows[i].spec;
    return error_suggest(name, (const char *const *)specs->names, specs->n);
}

static void advise_cpus(const struct setup *setup, struct advice *advice) {
    const struct config *config = setup->config;
    for (size_t i = 0; i < config->n_hosts; i++) {
        const struct config_host *rule = &config->hosts[i];
        if (has_spec(setup, rule->cpu))
            continue;
        const char *near = find_near(&setup->specs, rule->cpu);
        advice_add(advice, "rule_without_cpu", "'topdownd list cpus' shows the names of all specs",
                   "hosts: rule %zu (profile %s) takes no host, as no spec has the name \"%s\"%s%s%s", i + 1,
                   config->profiles[rule->profile].name, rule->cpu, near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"" : "");
        advice_place(advice, rule->origin);
    }
}

void advice_hosts(const struct setup *setup, struct advice *advice) {
    advise_order(setup->config, advice);
    advise_cpus(setup, advice);
}
