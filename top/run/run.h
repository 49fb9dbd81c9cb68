// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TOP_RUN_RUN_H
#define TOPDOWND_TOP_RUN_RUN_H

// The program topdownd-top: shows what a daemon says, until a key ends it. Returns the exit status: 0, 1 (it could not
// be shown), 2 (the command line or the environment is wrong).
int run_top(int argc, char **argv);

#endif
