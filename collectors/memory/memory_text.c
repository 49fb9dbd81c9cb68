// SPDX-License-Identifier: Apache-2.0
#include "collectors/memory/memory_text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A whole number up to 2^64, and then nothing but `end`. False: it is none.
static bool read_whole(const char *text, char end, double *out) {
    char *after;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long number = strtoull(text, &after, 10);
    if (errno != 0 || (*after != end && *after != '\0'))
        return false;
    *out = (double)number;
    return true;
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

// What follows the name in a line that begins with it and a blank; NULL: it does not.
static const char *after_name(const char *line, const char *name) {
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && line[length] == ' ' ? line + length + 1 : NULL;
}

int memory_text_rows(const char *text, const struct memory_row *rows, size_t n) {
    int r = 0;
    for (const char *line = text; *line != '\0'; line = next_line(line))
        for (size_t i = 0; i < n; i++) {
            const char *value = after_name(line, rows[i].name);
            if (value && !read_whole(value, '\n', rows[i].value))
                r = -EINVAL;
        }
    return r;
}

double memory_text_size(const char *text, const char *name) {
    double kilobytes;
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        const char *word = after_name(line, "Node");
        size_t length = strlen(name);
        word = word ? strchr(word, ' ') : NULL;
        if (!word || strncmp(word + 1, name, length) != 0 || word[1 + length] != ':')
            continue;
        const char *value = word + 2 + length;
        return read_whole(value + strspn(value, " \t"), ' ', &kilobytes) ? kilobytes * 1024 : NAN;
    }
    return NAN;
}

enum memory_text_bytes memory_text_bytes(const char *text, double *out) {
    static const struct {
        const char *word;
        enum memory_text_bytes meaning;
    } words[] = {{"Unavailable", MEMORY_TEXT_UNAVAILABLE},
                 {"Error", MEMORY_TEXT_UNAVAILABLE},
                 {"Unassigned", MEMORY_TEXT_UNASSIGNED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(text, words[i].word, strlen(words[i].word)) == 0)
            return words[i].meaning;
    return read_whole(text, '\n', out) ? MEMORY_TEXT_BYTES : MEMORY_TEXT_WRONG;
}

// A folder's name that is a prefix and a number of 32 bits.
static bool is_numbered(const char *name, const char *prefix, unsigned *out) {
    size_t length = strlen(prefix);
    double number;
    if (strncmp(name, prefix, length) != 0 || !read_whole(name + length, '\0', &number) || number > UINT32_MAX)
        return false;
    *out = (unsigned)number;
    return true;
}

bool memory_text_domain(const char *name, unsigned *out) { return is_numbered(name, "mon_L3_", out); }

bool memory_text_part(const char *name, unsigned *out) { return is_numbered(name, "mon_sub_L3_", out); }

bool memory_text_unassigned(const char *text, const char *event, unsigned domain) {
    size_t length = strlen(event);
    for (const char *line = text; *line != '\0'; line = next_line(line)) {
        if (strncmp(line, event, length) != 0 || line[length] != ':')
            continue;
        const char *word = line + length + 1;
        for (size_t n = strcspn(word, ";\n"); n > 0; word += n + (word[n] == ';'), n = strcspn(word, ";\n")) {
            double number;
            const char *sign = memchr(word, '=', n);
            if (sign && read_whole(word, '=', &number) && number == domain)
                return sign[1] == '_';
        }
    }
    return false;
}

// One of a list of words, which ends at a comma or a line's end.
static bool lists(const char *text, const char *word) {
    size_t length = strlen(word);
    for (; *text != '\0'; text += strcspn(text, ",\n"), text += strspn(text, ",\n"))
        if (strncmp(text, word, length) == 0 && strchr(",\n", text[length]))
            return true;
    return false;
}

// Bits of "0=0x7f;1=0x7f", and the same as words. CPUs without slow memory have no bits for it (0x30).
bool memory_text_counts_all(const char *text) {
    static const char *const words[] = {"local_reads", "remote_reads", "local_non_temporal_writes",
                                        "remote_non_temporal_writes", "dirty_victim_writes_all"};
    static const unsigned long needed = 0x4f;
    bool all = true;
    const char *value = strchr(text, '=');
    for (size_t i = 0; !value && i < sizeof words / sizeof *words; i++)
        all = all && lists(text, words[i]);
    for (; value && all; value = strchr(value + 1, '='))
        all = (strtoul(value + 1, NULL, 16) & needed) == needed;
    return all;
}

// The field of a line, counted from 0; its length is up to the next blank. NULL: the line has fewer.
static const char *field_of(const char *line, unsigned number) {
    for (; number > 0; number--) {
        line += strcspn(line, " \n");
        if (*line != ' ')
            return NULL;
        line++;
    }
    return line;
}

static bool is_octal(const char *text) {
    return text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' && text[2] <= '7';
}

// Blanks in a path are "\040".
static bool copy_path(const char *field, char *path, size_t size) {
    size_t length = 0;
    while (*field != ' ' && *field != '\n' && *field != '\0') {
        bool escaped = field[0] == '\\' && is_octal(field + 1);
        char next = escaped ? (char)((field[1] - '0') * 64 + (field[2] - '0') * 8 + (field[3] - '0')) : field[0];
        if (length + 1 >= size || next == '\0')
            return false;
        path[length++] = next;
        field += escaped ? 4 : 1;
    }
    path[length] = '\0';
    return length > 0;
}

bool memory_text_resctrl(const char *text, char *path, size_t size) {
    static const char type[] = " - resctrl ";
    for (const char *found = strstr(text, type); found; found = strstr(found + 1, type)) {
        const char *line = found;
        while (line > text && line[-1] != '\n')
            line--;
        const char *place = field_of(line, 4);
        if (place && place < found)
            return copy_path(place, path, size);
    }
    return false;
}

enum memory_text_dax memory_text_dax(const char *link) {
    return strstr(link, "/dax_region") ? MEMORY_TEXT_DAX_CXL // only regions of CXL have one
           : strstr(link, "/ndbus")    ? MEMORY_TEXT_DAX_NVDIMM
           : strstr(link, "/hmem")     ? MEMORY_TEXT_DAX_SPECIAL
                                       : MEMORY_TEXT_DAX_UNKNOWN;
}
