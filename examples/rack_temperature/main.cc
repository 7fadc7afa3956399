// SPDX-License-Identifier: Apache-2.0
// A scheduler of one's own: every command of berth, with the plugin inside.
#include "rack_temperature.h"

static void RegisterAcme(berth::Registry& registry) { registry.Add<RackTemperature>(); }

int main(int argc, char** argv) { return berth::Main(argc, argv, RegisterAcme); }
