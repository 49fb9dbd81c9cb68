// SPDX-License-Identifier: Apache-2.0
#include "core/base/utf8.h"

size_t utf8_length_long(const char *string, size_t length) {
    const unsigned char *text = (const unsigned char *)string;
    static const struct {
        unsigned char first, last, second_min, second_max, length;
    } forms[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        if (length < forms[i].length || text[1] < forms[i].second_min || text[1] > forms[i].second_max)
            return 0;
        for (size_t j = 2; j < forms[i].length; j++)
            if ((text[j] & 0xc0) != 0x80)
                return 0;
        return forms[i].length;
    }
    return 0;
}
