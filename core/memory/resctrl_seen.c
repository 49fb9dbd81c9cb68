// SPDX-License-Identifier: Apache-2.0
#include "core/memory/resctrl_seen.h"

#include <math.h>

// Bytes count only where both files have a number, so that a difference never takes one for the other.
static bool is_number(const struct resctrl_said *said) {
    return !isnan(said->total) && !(said->tells_local && isnan(said->local));
}

static uint64_t mixed(uint64_t value) { // splitmix64
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

// The kernel adds up each file by itself: one of a group's numbers may be in a sum without the other.
void resctrl_children_add(struct resctrl_children *children, uint64_t id, const struct resctrl_said *said, bool fresh) {
    uint64_t which = (uint64_t)!isnan(said->total) + 2 * (uint64_t)!isnan(said->local);
    children->total += isnan(said->total) ? 0 : said->total;
    children->local += isnan(said->local) ? 0 : said->local;
    children->n++;
    uint64_t member = which == 0 ? 0 : mixed(id ^ mixed(which));
    children->set += member;
    children->old += fresh ? 0 : member;
}

struct resctrl_seen resctrl_see_group(const struct resctrl_said *said) {
    return (struct resctrl_seen){.total = said->total,
                                 .local = said->local,
                                 .most_total = said->total,
                                 .most_local = said->local,
                                 .number = is_number(said),
                                 .unassigned = said->unassigned};
}

// A sum that fell meanwhile says that one ceased to have a number.
struct resctrl_seen resctrl_see_part(const struct resctrl_said *first, const struct resctrl_said *again,
                                     const struct resctrl_children *children) {
    bool whole = again->total >= first->total && !(first->tells_local && !(again->local >= first->local));
    return (struct resctrl_seen){.total = first->total - children->total,
                                 .local = first->local - children->local,
                                 .most_total = again->total - children->total,
                                 .most_local = again->local - children->local,
                                 .set = children->set,
                                 .old = children->old,
                                 .number = whole && !first->unassigned, // of no number, nothing is at least
                                 .unassigned = first->unassigned,
                                 .part = children->n > 0};
}
