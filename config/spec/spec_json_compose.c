// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "config/spec/spec_json_private.h"

// Events composed of two parts, such as Intel's OFFCORE_RESPONSE: any request with any response. A spec lists the parts
// and their bits of one term, and every pair is an event, NAME.FIRST.SECOND. An event of that name among `events` wins.

enum { PARTS_MAX = 64, TEXT_MAX = 256 };

struct part {
    const char *name, *title;
    uint64_t bits;
};

struct event_family {
    struct catalog_event_text text; // of each event; name and terms are made for each
    struct spec_event_texts texts;  // of its terms, those that all have
    const char *term;               // of the parts' bits
    const char **known_as;          // other first words of the names
    size_t n_known_as;
    struct part first[PARTS_MAX], second[PARTS_MAX];
    size_t n_first, n_second;
};

static bool read_part(const struct json_node *node, struct part *out) {
    static const char *const keys[] = {"bits", "title"};
    const char *bits;
    if (!json_is_object(node))
        return false;
    json_check_keys(node, keys, COUNT(keys));
    *out = (struct part){.name = node->key};
    if (!json_get_text(node, "title", JSON_REQUIRED, &out->title) || !json_get_text(node, "bits", JSON_REQUIRED, &bits))
        return false;
    if (spec_parse_code(bits, &out->bits) && out->bits != 0)
        return true;
    json_fail(node, "has bits that are not a number above 0: write them as \"0x01\"");
    return false;
}

static size_t read_parts(const struct json_node *family, const char *key, struct part parts[PARTS_MAX]) {
    struct json_node list;
    const cJSON *value;
    size_t n = 0;
    if (!json_get_object(family, key, JSON_REQUIRED, &list))
        return 0;
    cJSON_ArrayForEach(value, list.value) {
        const struct json_node node = json_child(&list, value, 0);
        if (n == PARTS_MAX) {
            json_fail(&list, "has more than %d parts", PARTS_MAX);
            return 0;
        }
        n += read_part(&node, &parts[n]);
    }
    return n;
}

static bool read_family(struct spec_reader *spec, const struct json_node *node, struct event_family *out) {
    static const char *const keys[] = {"code", "term", "known_as", "first", "second", "topdownd"};
    *out = (struct event_family){.known_as = NULL};
    if (!json_is_object(node))
        return false;
    json_check_keys(node, keys, COUNT(keys));
    bool good = spec_read_event(spec, node, &out->text, &out->texts);
    good = json_get_text(node, "term", JSON_REQUIRED, &out->term) && good;
    (void)json_get_texts(node, "known_as", JSON_OPTIONAL, PARTS_MAX, &out->known_as, &out->n_known_as);
    out->n_first = read_parts(node, "first", out->first);
    out->n_second = read_parts(node, "second", out->second);
    return good;
}

// False if the text does not fit.
static bool name_pair(char out[TEXT_MAX], const char *word, const struct part *first, const struct part *second) {
    return snprintf(out, TEXT_MAX, "%s.%s.%s", word, first->name, second->name) < TEXT_MAX;
}

static int add_pair(struct spec_reader *spec, const struct json_node *node, const struct event_family *family,
                    const struct part *first, const struct part *second, struct fault *fault) {
    char name[TEXT_MAX], title[TEXT_MAX], terms[SPEC_TERMS_MAX];
    struct catalog_event_text text = family->text;
    if (!name_pair(name, node->key, first, second))
        return fault_set(fault, "the name of %.60s.%.60s is too long", first->name, second->name);
    if (catalog_find_event(spec->catalog, name) >= 0)
        return 0;
    (void)snprintf(title, sizeof title, "%s %s", first->title, second->title);
    if (snprintf(terms, sizeof terms, "%s,%s=0x%llx", family->texts.terms, family->term,
                 (unsigned long long)(first->bits | second->bits)) >= (int)sizeof terms)
        return fault_set(fault, "has more terms than any PMU");
    text.name = name;
    text.title = title;
    text.terms = terms;
    int event = catalog_builder_add_event_text(spec->builder, &text, fault), r = event < 0 ? event : 0;
    for (size_t i = 0; i < family->n_known_as && r >= 0; i++)
        r = name_pair(name, family->known_as[i], first, second)
                ? catalog_builder_add_alias(spec->builder, name, (unsigned)event, fault)
                : fault_set(fault, "the name %.60s is too long", family->known_as[i]);
    return r;
}

static void compose(struct spec_reader *spec, const struct json_node *node) {
    struct event_family family;
    struct fault fault;
    bool good = read_family(spec, node, &family);
    int r = 0;
    for (size_t i = 0; good && i < family.n_first && r >= 0; i++)
        for (size_t j = 0; j < family.n_second && r >= 0; j++)
            r = add_pair(spec, node, &family, &family.first[i], &family.second[j], &fault);
    spec_take(node, r, &fault);
    free(family.known_as);
}

void spec_compose_events(struct spec_reader *spec, const struct json_node *ours) {
    struct json_node families;
    const cJSON *value;
    if (!ours->value || !json_get_object(ours, "composed_events", JSON_OPTIONAL, &families))
        return;
    cJSON_ArrayForEach(value, families.value) {
        const struct json_node node = json_child(&families, value, 0);
        compose(spec, &node);
        json_forgive(&spec->reader);
    }
}
