// SPDX-License-Identifier: Apache-2.0
#include "core/base/decimal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 15 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool decimal_read(const char **text, struct decimal *out) {
    struct decimal decimal = {0};
    const char *c = *text;
    bool point = false;
    unsigned n = 0;
    for (; is_digit(*c) || (*c == '.' && !point && n > 0); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        if (++n > DIGITS_MAX)
            return false;
        decimal.digits = decimal.digits * 10 + (uint64_t)(*c - '0');
        decimal.places += point;
    }
    if (n == 0 || (point && decimal.places == 0))
        return false;
    *out = decimal;
    *text = c;
    return true;
}

// Whole powers of ten are exact up to this size, so dividing by one gives the double nearest to the written number.
static double power_of_ten(unsigned exponent) {
    double power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

double decimal_value(struct decimal decimal) { return (double)decimal.digits / power_of_ten(decimal.places); }

int decimal_read_duration(const char *text, double *out_ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    struct decimal number;
    if (!decimal_read(&text, &number))
        return -EINVAL;
    if (*text == '\0')
        return -EDOM;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        *out_ns = (double)number.digits * units[i].ns / power_of_ten(number.places);
        return 0;
    }
    return -EINVAL;
}

int decimal_read_size(const char *text, double *out_bytes) {
    struct decimal number;
    if (!decimal_read(&text, &number) || (strcmp(text, "M") != 0 && strcmp(text, "G") != 0))
        return -EINVAL;
    *out_bytes = decimal_value(number) * (*text == 'M' ? 0x1p20 : 0x1p30);
    return 0;
}

const char *decimal_write_size(double bytes, char out[DECIMAL_SIZE_MAX]) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    (void)snprintf(out, DECIMAL_SIZE_MAX, "%.4g %s", bytes, units[unit]);
    return out;
}
