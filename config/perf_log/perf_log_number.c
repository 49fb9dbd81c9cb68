// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "config/perf_log/perf_log_private.h"

bool perf_log_time(const char *text, uint64_t *ns) {
    uint64_t seconds = 0, rest = 0;
    size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 9)
        return false;
    for (size_t i = 0; i < whole; i++)
        seconds = seconds * 10 + (uint64_t)(text[i] - '0');
    if (seconds >= PERF_LOG_SECONDS_MAX)
        return false;
    const char *digits = text + whole + (text[whole] == '.');
    size_t places = strspn(digits, "0123456789");
    if (digits[places] != '\0' || (text[whole] != '\0' && text[whole] != '.'))
        return false;
    for (size_t i = 0; i < 9; i++)
        rest = rest * 10 + (i < places ? (uint64_t)(digits[i] - '0') : 0);
    *ns = seconds * 1000000000 + rest;
    return true;
}

bool perf_log_number(const char *text, double scale, double *out) {
    char plain[64];
    size_t n = strlen(text);
    if (n >= sizeof plain)
        return false;
    memcpy(plain, text, n + 1);
    char *comma = strchr(plain, ',');
    if (comma)
        *comma = '.';
    char *point = strchr(plain, '.');
    double digits = 0, divisor = 1; // exact digits and one division, so only one rounding
    for (const char *c = plain; *c != '\0'; c++) {
        if (c == point)
            continue;
        if (*c < '0' || *c > '9')
            return false;
        digits = digits * 10 + (*c - '0');
        divisor *= point && c > point ? 10 : 1;
    }
    *out = digits / divisor * scale;
    return n > 0 && *out < 1.8e19;
}
