// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/spec/event_format.h"

// The last line has the terms of an event, the lines before are "name text" of a format. Any text is a field within one
// number or an error message; encoded bits are within the fields, or came as a whole number.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(const struct event_format *format) {
    for (size_t i = 0; i < event_format_count(format); i++) {
        const struct event_format_field *field = event_format_at(format, i);
        assert(field->bits != 0 && field->word < EVENT_FORMAT_WORDS);
        assert(event_format_find(format, field->name) == field);
    }
}

static void encode(const struct event_format *format, const char *terms) {
    struct fault error = {0};
    struct pmu_event event = {.pmu = 7};
    uint64_t all[EVENT_FORMAT_WORDS] = {0};
    for (size_t i = 0; i < event_format_count(format); i++)
        all[event_format_at(format, i)->word] |= event_format_at(format, i)->bits;
    int r = event_format_encode(format, terms, &event, &error);
    assert(event.pmu == 7);
    if (r < 0)
        assert(error.text[0] != '\0' && event.config == 0 && event.config1 == 0 && event.config2 == 0);
    else if (!strstr(terms, "config"))
        assert((event.config & ~all[0]) == 0 && (event.config1 & ~all[1]) == 0 && (event.config2 & ~all[2]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct event_format *format = NULL;
    char *text = malloc(size + 1);
    if (!text || event_format_new(&format) < 0) {
        free(text);
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    char *line = text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        struct fault error = {0};
        *end = '\0';
        char *space = strchr(line, ' ');
        if (space)
            *space = '\0';
        int r = event_format_add(format, line, space ? space + 1 : "", &error);
        assert((r == 0) == (error.text[0] == '\0'));
    }
    check_fields(format);
    encode(format, line);
    event_format_free(format);
    free(text);
    return 0;
}
