// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/options_error.h"

#include <errno.h>
#include <stdio.h>

int options_say(const char *what) {
    (void)fprintf(stderr, "topdownd: %s\n", what);
    return -EINVAL;
}

int options_refuse(const char *what, const char *word, const char *suggestion) {
    if (suggestion)
        (void)fprintf(stderr, "topdownd: %s '%s': did you mean '%s'? --help tells all\n", what, word, suggestion);
    else
        (void)fprintf(stderr, "topdownd: %s '%s': --help tells what there is\n", what, word);
    return -EINVAL;
}
