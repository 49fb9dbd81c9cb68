// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/engine.h"

#include <errno.h>
#include <sys/random.h>

#include "daemon/engine/measure.h"

int engine_new(struct setup *setup, struct core_type *type, struct self *self, const struct shown *newest,
               struct engine *first, uint64_t now_ns, struct errors *errors, struct engine **out) {
    struct measure_request request = {
        .setup = setup, .type = type, .self = self, .newest = newest, .first = first, .now_ns = now_ns};
    if (getrandom(&request.seed, sizeof request.seed, 0) != sizeof request.seed)
        return -EIO;
    return measure_new(&request, errors, out);
}
