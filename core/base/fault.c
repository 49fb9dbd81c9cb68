// SPDX-License-Identifier: Apache-2.0
#include "core/base/fault.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, const char *format, ...) {
    va_list arguments;
    fault->kind = FAULT_ENTRY;
    fault->column = 0;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

int fault_set_kind(struct fault *fault, enum fault_kind kind, size_t column, const char *format, ...) {
    va_list arguments;
    fault->kind = kind;
    fault->column = column;
    va_start(arguments, format);
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return -EINVAL;
}
