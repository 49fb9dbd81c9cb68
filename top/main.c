// SPDX-License-Identifier: Apache-2.0
#include "top/run/run.h"

int main(int argc, char **argv) { return run_top(argc, argv); }
