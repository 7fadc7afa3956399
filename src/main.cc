// SPDX-License-Identifier: Apache-2.0
// The stock program: Berth's own plugins and nothing else.
#include "berth/main.h"

int main(int argc, char** argv) { return berth::Main(argc, argv); }
