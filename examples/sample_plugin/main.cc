// SPDX-License-Identifier: Apache-2.0
// A scheduler of one's own. Started with flags alone it schedules; `sample-scheduler-framework explain` and the others
// are there as well, with the plugin inside.
#include "sample_plugin.h"

static void RegisterSample(berth::Registry& registry) { registry.Add<SamplePlugin>(); }

int main(int argc, char** argv) { return berth::Main(argc, argv, RegisterSample); }
