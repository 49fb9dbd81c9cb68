// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/name.h"

int errors_add(struct errors *errors, const char *file, unsigned line, unsigned column, const char *format, ...) {
    if (errors->n == ERRORS_MAX) {
        errors->dropped++;
        return -EINVAL;
    }
    struct error *error = &errors->items[errors->n++];
    (void)snprintf(error->file, sizeof error->file, "%s", file ? file : "");
    error->line = line;
    error->column = column;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

bool error_passes(int error) {
    switch (error < 0 ? -error : error) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EIO:
    case EINTR:
        return true;
    default:
        return false;
    }
}

const char *error_reason(int error) {
    switch (error < 0 ? -error : error) {
    case EMFILE:
        return "Too many open files: raise LimitNOFILE of the service (ulimit -n in a shell)";
    case ENFILE:
        return "Too many open files in system: raise fs.file-max";
    case ENOMEM:
        return "Cannot allocate memory: give the service or the host more (MemoryMax, LimitAS)";
    case EIO:
        return "Input/output error: the disk fails, and the kernel's log (dmesg) says more";
    default:
        return strerror(error < 0 ? -error : error);
    }
}

int errors_add_failure(struct errors *errors, const char *file, const char *what, int error) {
    errors->passing = errors->passing || error_passes(error);
    return errors_add(errors, file, 0, 0, "%s: %s", what, error_reason(error));
}

size_t error_format(const struct error *error, char *out, size_t size) {
    int length;
    if (error->file[0] == '\0')
        length = snprintf(out, size, "%s", error->text);
    else if (error->line == 0)
        length = snprintf(out, size, "%s: %s", error->file, error->text);
    else if (error->column == 0)
        length = snprintf(out, size, "%s:%u: %s", error->file, error->line, error->text);
    else
        length = snprintf(out, size, "%s:%u:%u: %s", error->file, error->line, error->column, error->text);
    return length < 0 ? 0 : (size_t)length;
}

enum { SUGGEST_LENGTH_MAX = 63 };

// Levenshtein distance over two rows; both words are at most SUGGEST_LENGTH_MAX long.
static size_t edit_distance(const char *a, const char *b) {
    size_t row[SUGGEST_LENGTH_MAX + 1], length_a = strlen(a), length_b = strlen(b);
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[length_b];
}

const char *error_suggest(const char *word, const char *const *candidates, size_t n) {
    char wanted[SUGGEST_LENGTH_MAX + 1], candidate[SUGGEST_LENGTH_MAX + 1];
    if (strlen(word) > SUGGEST_LENGTH_MAX)
        return NULL;
    name_fold(word, wanted, sizeof wanted);
    const char *best = NULL;
    size_t length = strlen(wanted), best_distance = length / 3 + 2; // beyond that it is another word, not a typo
    if (best_distance > length / 2 + 1)
        best_distance = length / 2 + 1; // of a short word half remains
    for (size_t i = 0; i < n; i++) {
        if (strlen(candidates[i]) > SUGGEST_LENGTH_MAX)
            continue;
        name_fold(candidates[i], candidate, sizeof candidate);
        size_t distance = edit_distance(wanted, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidates[i];
        }
    }
    return best;
}
