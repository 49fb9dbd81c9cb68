// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_VIEW_VIEW_CIRCUMSTANCES_H
#define TOPDOWND_EXPORTERS_VIEW_VIEW_CIRCUMSTANCES_H

// In words, what is beside the verdict on a host (core/tally/circumstances.h).

#include "exporters/text/text.h"
#include "exporters/view/view.h"

// What comes before the verdict, because it says how much that counts: little runs, CPUs differ, or, if nothing stands
// out in the verdict, what keeps all CPUs from doing more. Each sentence ends with a space.
void view_circumstances_before(const struct snapshot *snapshot, struct text *out);
// What comes after it, each sentence after a space.
void view_circumstances_after(const struct snapshot *snapshot, struct text *out);

#endif
