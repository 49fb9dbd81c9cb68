// SPDX-License-Identifier: Apache-2.0
//
// Text, and numbers as text.
//
// A double is an integer times a power of two, so scaling it by a power of ten that leaves 15 digits before the point
// takes one exact product in 128 bits and one rounding shift: this gives printf's digits in a tenth of the time. Rare
// values (very small, very large) are left to printf.

#include "exporters/text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/utf8.h"

enum { TEXT_CAPACITY_FIRST = 4096, DIGITS = 15, WHOLE_DIGITS_MAX = 20, MANTISSA_BITS = 52, FIVES_MAX = 24 };

static const uint64_t DIGITS_END = 1000000000000000; // 10^15

char *text_room(struct text *text, size_t length) {
    if (text->failed)
        return NULL;
    if (length <= text->capacity - text->length && text->data)
        return text->data + text->length;
    size_t needed = length < TEXT_CAPACITY_FIRST ? TEXT_CAPACITY_FIRST : length;
    char *data =
        needed <= SIZE_MAX - text->length ? array_reserve(text->data, text->length + needed, &text->capacity, 1) : NULL;
    if (!data) {
        text->failed = true;
        return NULL;
    }
    text->data = data;
    return text->data + text->length;
}

void text_append(struct text *text, const void *data, size_t length) {
    char *room = length ? text_room(text, length) : NULL;
    if (!room)
        return;
    memcpy(room, data, length);
    text->length += length;
}

void text_string(struct text *text, const char *string) { text_append(text, string, strlen(string)); }

void text_format(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *room = length < 0 ? NULL : text_room(text, (size_t)length + 1);
    if (!room) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(room, (size_t)length + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void text_free(struct text *text) {
    free(text->data);
    *text = (struct text){0};
}

static const char *escape_find(const struct text_escape *escapes, char c) {
    for (; escapes->from; escapes++)
        if (escapes->from == c)
            return escapes->to;
    return NULL;
}

void text_escaped(struct text *text, const char *string, const struct text_escape *escapes) {
    while (*string) {
        size_t n = utf8_length(string, SIZE_MAX);
        const char *to = n == 1 ? escape_find(escapes, *string) : n == 0 ? TEXT_REPLACEMENT : NULL;
        if (to)
            text_string(text, to);
        else
            text_append(text, string, n);
        string += n ? n : 1;
    }
}

static const char PAIRS[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495"
    "96979899";

static void write_pair(char *out, uint32_t pair) { memcpy(out, PAIRS + (size_t)2 * pair, 2); }

// Writes exactly eight digits. No division waits for more than one other.
static void write_eight(char *out, uint32_t value) {
    uint32_t high = value / 10000, low = value % 10000;
    write_pair(out, high / 100);
    write_pair(out + 2, high % 100);
    write_pair(out + 4, low / 100);
    write_pair(out + 6, low % 100);
}

// Writes the digits of `value` so that they end before `end`; returns their start.
static char *write_digits(char *end, uint64_t value) {
    for (; value >= 100000000; value /= 100000000) {
        end -= 8;
        write_eight(end, (uint32_t)(value % 100000000));
    }
    uint32_t rest = (uint32_t)value;
    for (; rest >= 100; rest /= 100) {
        end -= 2;
        write_pair(end, rest % 100);
    }
    if (rest >= 10) {
        end -= 2;
        write_pair(end, rest);
    } else {
        *--end = (char)('0' + rest);
    }
    return end;
}

// Copies of a fixed length are a few instructions; what is too long is written over or left out of the length.
static size_t write_whole(char *out, uint64_t value) {
    char digits[2 * WHOLE_DIGITS_MAX];
    char *end = digits + WHOLE_DIGITS_MAX, *begin = write_digits(end, value);
    memcpy(out, begin, WHOLE_DIGITS_MAX);
    return (size_t)(end - begin);
}

// Returns value * 10^tens, rounded to the nearest whole number, ties to even. The value is mantissa * 2^(exponent -
// 52), and the arguments are such that the result lies between 10^14 and 10^16.
static uint64_t scale(uint64_t mantissa, int exponent, unsigned tens) {
    static const uint64_t fives[FIVES_MAX + 1] = {
        1,
        5,
        25,
        125,
        625,
        3125,
        15625,
        78125,
        390625,
        1953125,
        9765625,
        48828125,
        244140625,
        1220703125,
        6103515625,
        30517578125,
        152587890625,
        762939453125,
        3814697265625,
        19073486328125,
        95367431640625,
        476837158203125,
        2384185791015625,
        11920928955078125,
        59604644775390625,
    };
    unsigned __int128 product = (unsigned __int128)mantissa * fives[tens];
    unsigned shift = (unsigned)(MANTISSA_BITS - exponent) - tens;
    unsigned __int128 half = (unsigned __int128)1 << (shift - 1);
    unsigned __int128 rest = product & (2 * half - 1);
    uint64_t whole = (uint64_t)(product >> shift);
    return whole + (rest > half || (rest == half && whole % 2 == 1));
}

// Writes 0.d1d2..d15 * 10^point without trailing zeros. Copies have fixed lengths, as above.
static size_t write_real(char *out, uint64_t digits, int point) {
    char buffer[2 * (DIGITS + 1)], *first = buffer + 1;
    write_eight(buffer, (uint32_t)(digits / 100000000));
    write_eight(buffer + 8, (uint32_t)(digits % 100000000));
    int n = DIGITS;
    while (n > 1 && first[n - 1] == '0')
        n--;
    if (point <= 0) {
        char *p = out + 2;
        memcpy(out, "0.00000000", 10);
        p -= point;
        memcpy(p, first, DIGITS);
        return (size_t)(p + n - out);
    }
    memcpy(out, first, DIGITS);
    if (n <= point)
        return (size_t)point;
    out[point] = '.';
    memcpy(out + point + 1, first + point, DIGITS);
    return (size_t)n + 1;
}

// `value` is in [1e-9, 999999999999999.5).
static size_t write_fast(char *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    int exponent = (int)(bits >> MANTISSA_BITS) - 1023;
    uint64_t mantissa = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | UINT64_C(1) << MANTISSA_BITS;
    int decimal = (exponent * 78913) >> 18; // exponent * log10(2), rounded down; the value's own is this or one more
    uint64_t digits = scale(mantissa, exponent, (unsigned)(DIGITS - 1 - decimal));
    if (digits > DIGITS_END) {
        decimal++;
        digits = scale(mantissa, exponent, (unsigned)(DIGITS - 1 - decimal));
    }
    if (digits == DIGITS_END) // rounded up to the next power of ten
        return write_real(out, DIGITS_END / 10, decimal + 2);
    return write_real(out, digits, decimal + 1);
}

size_t text_number(char *out, double value) {
    size_t sign = 0;
    if (value < 0) {
        out[0] = '-';
        sign = 1;
        value = -value;
    }
    // 16 digits: the nearest whole number is more exact than 15 digits.
    if (value >= 999999999999999.5 && value < 0x1p64)
        return sign + write_whole(out + sign, (uint64_t)rint(value));
    if (value < 1e15 && value == (double)(uint64_t)value)
        return sign + write_whole(out + sign, (uint64_t)value);
    if (value >= 1e-9 && value < 1e15)
        return sign + write_fast(out + sign, value);
    return sign + (size_t)snprintf(out + sign, TEXT_NUMBER_MAX - sign, "%.15g", value);
}

void text_folded(struct text *text, const char *words, int indent, int width) {
    int column = indent;
    while (*words != '\0') {
        int length = (int)strcspn(words, " ");
        if (column > indent && column + 1 + length > width) {
            text_format(text, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            text_string(text, " ");
            column++;
        }
        text_append(text, words, (size_t)length);
        column += length;
        words += length;
        words += *words == ' ';
    }
    text_string(text, "\n");
}
