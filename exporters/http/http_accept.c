// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

// A piece of a header, not terminated.
struct piece {
    const char *text;
    size_t length;
};

// An element of a list: a name, and those parameters that matter.
struct element {
    struct piece name, version;
    int weight; // -1: not valid
};

enum { WEIGHT_MAX = 1000 };

static bool is(struct piece piece, const char *word) {
    return piece.length == strlen(word) && strncasecmp(piece.text, word, piece.length) == 0;
}

static bool is_space(char c) { return c == ' ' || c == '\t'; }

static struct piece trimmed(const char *begin, const char *end) {
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    return (struct piece){begin, (size_t)(end - begin)};
}

// The end of what begins here: one of `ends` outside of a quoted string, or the end of the header.
static const char *find_end(const char *p, const char *ends) {
    for (bool quoted = false; *p && (quoted || !strchr(ends, *p)); p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (quoted && *p == '\\' && p[1])
            p++;
    }
    return p;
}

// 0 to 1 with up to three digits, in thousandths; -1: anything else.
static int read_weight(struct piece piece) {
    int weight = 0, unit = WEIGHT_MAX;
    if (piece.length == 0 || (piece.text[0] != '0' && piece.text[0] != '1') ||
        (piece.length > 1 && piece.text[1] != '.') || piece.length > 5)
        return -1;
    for (size_t i = 0; i < piece.length; i++) {
        if (i == 1)
            continue;
        if (piece.text[i] < '0' || piece.text[i] > '9')
            return -1;
        weight += (piece.text[i] - '0') * unit;
        unit /= 10;
    }
    return weight <= WEIGHT_MAX ? weight : -1;
}

static struct piece unquoted(struct piece piece) {
    if (piece.length >= 2 && piece.text[0] == '"' && piece.text[piece.length - 1] == '"')
        return (struct piece){piece.text + 1, piece.length - 2};
    return piece;
}

static void read_parameter(const char *begin, const char *end, struct element *element) {
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    if (!equals)
        return;
    struct piece name = trimmed(begin, equals), value = unquoted(trimmed(equals + 1, end));
    if (is(name, "q"))
        element->weight = read_weight(value);
    else if (is(name, "version"))
        element->version = value;
}

// Reads the element that begins here and returns what follows its comma.
static const char *read_element(const char *p, struct element *element) {
    const char *end = find_end(p, ",;");
    *element = (struct element){.name = trimmed(p, end), .weight = WEIGHT_MAX};
    while (*end == ';') {
        const char *begin = end + 1;
        end = find_end(begin, ",;");
        read_parameter(begin, end, element);
    }
    return *end ? end + 1 : end;
}

static void mention(struct http_wish *wish, int weight, int precision) {
    if (precision < wish->precision || (precision == wish->precision && weight <= wish->weight))
        return;
    *wish = (struct http_wish){weight, precision};
}

// How exactly an element names a format: 0 if it does not.
static int precision_of(const struct element *element, const char *type, const char *range, const char *version) {
    if (is(element->name, "*/*"))
        return 1;
    if (is(element->name, range))
        return 2;
    if (!is(element->name, type))
        return 0;
    if (!element->version.text)
        return 3;
    return is(element->version, version) ? 4 : 0;
}

struct http_accept http_accept_new(void) {
    const struct http_wish none = {-1, 0};
    return (struct http_accept){none, none, none, none};
}

void http_accept_add_types(struct http_accept *accept, const char *value) {
    struct element element;
    while (*value) {
        value = read_element(value, &element);
        int text = precision_of(&element, "text/plain", "text/*", "0.0.4");
        int openmetrics = precision_of(&element, "application/openmetrics-text", "application/*", "1.0.0");
        if (element.weight >= 0 && text > 0)
            mention(&accept->text, element.weight, text);
        if (element.weight >= 0 && openmetrics > 0)
            mention(&accept->openmetrics, element.weight, openmetrics);
    }
}

void http_accept_add_codings(struct http_accept *accept, const char *value) {
    struct element element;
    while (*value) {
        value = read_element(value, &element);
        bool any = is(element.name, "*");
        if (element.weight >= 0 && (any || is(element.name, "identity")))
            mention(&accept->identity, element.weight, any ? 1 : 2);
        if (element.weight >= 0 && (any || is(element.name, "gzip") || is(element.name, "x-gzip")))
            mention(&accept->gzip, element.weight, any ? 1 : 2);
    }
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct http_accept *accept = context;
    (void)kind;
    if (value && strcasecmp(name, "Accept") == 0)
        http_accept_add_types(accept, value);
    else if (value && strcasecmp(name, "Accept-Encoding") == 0)
        http_accept_add_codings(accept, value);
    return MHD_YES;
}

struct http_accept http_accept_read(struct MHD_Connection *connection) {
    struct http_accept accept = http_accept_new();
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header, &accept);
    return accept;
}

bool http_accept_openmetrics(const struct http_accept *accept) {
    const struct http_wish *text = &accept->text, *openmetrics = &accept->openmetrics;
    if (openmetrics->weight <= 0)
        return false;
    return openmetrics->weight > text->weight ||
           (openmetrics->weight == text->weight && openmetrics->precision > text->precision);
}

enum http_coding http_accept_coding(const struct http_accept *accept) {
    if (accept->gzip.weight > 0 && accept->gzip.weight >= accept->identity.weight)
        return HTTP_GZIP;
    return accept->identity.weight != 0 ? HTTP_IDENTITY : HTTP_CODING_NONE;
}
