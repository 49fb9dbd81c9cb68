// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_VERIFY_VERIFY_H
#define TOPDOWND_DAEMON_VERIFY_VERIFY_H

// `topdownd doctor --verify`: runs kernels of which the truth is known on one CPU, one after the other, measures them,
// and compares: the verdict, counts for each iteration, and the counts of `perf stat` beside, where there is one. Every
// reading is recorded.
//
// On a simulated host nothing runs: its CPUs 0, 1, 2 ... are taken to run the kernels in their order, and only verdicts
// are compared.

#include "daemon/base/findings.h"
#include "daemon/source/setup.h"

enum { VERIFY_FOLDER_MAX = 256 };

// Makes a folder for the recordings (its path in `folder`, which stays), and adds a finding for each thing compared.
// Returns 0, -EINVAL with the reason in `errors`, or another negative errno.
int verify_run(const struct options *options, const struct setup *setup, char folder[VERIFY_FOLDER_MAX],
               struct findings *findings, struct errors *errors);

#endif
