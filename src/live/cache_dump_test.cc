// SPDX-License-Identifier: Apache-2.0
#include "live/cache_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "cycle/cycle_test_util.h"

namespace berth::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CacheDumpTest : public cycle::CycleTest {
 protected:
  std::string Dump() {
    std::ostringstream text;
    util::Log log(text, {.verbosity = 3, .several_lines = true}, clock_);
    DumpCache(*scheduler_, log);
    return text.str();
  }
};

TEST_F(CacheDumpTest, NodesAndPodsAreThereWithWhatTheyHold) {
  Start({"n1", "n2"});
  Put(Wants("web", "500m"));
  AcceptAll();
  Put(Wants("big", "100"));
  AcceptAll();
  const std::string text = Dump();
  EXPECT_THAT(text, HasSubstr("\"Cache comparer started\""));
  EXPECT_THAT(text, HasSubstr("\"Cache comparer finished\" mismatch=\"none\""));
  EXPECT_THAT(text, Not(HasSubstr("Cache mismatch")));
  EXPECT_THAT(text, HasSubstr("\"Dump of cached NodeInfo\" nodes=<\n\tNode name: n1\n\tDeleted: false\n\tRequested "
                              "Resources: &{MilliCPU:500 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 "
                              "ScalarResources:map[]}\n\tAllocatable Resources:&{MilliCPU:1000 Memory:0 "
                              "EphemeralStorage:0 AllowedPodNumber:110 ScalarResources:map[]}\n\tScheduled "
                              "Pods(number: 1):\n\tname: web, namespace: default, uid: pod-default/web, phase: "));
  EXPECT_THAT(text, HasSubstr("Node name: n2\n\tDeleted: false\n\tRequested Resources: &{MilliCPU:0 "));
  EXPECT_THAT(text, HasSubstr("\"Dump of scheduling queue\" summary=\"activeQ:0; backoffQ:0; unschedulablePods:1\" "
                              "pods=<\n\tname: big, namespace: default,"));
}

TEST_F(CacheDumpTest, MuchIsToldInSeveralLines) {
  Start();
  for (int i = 0; i < 2000; ++i) api_.Put(MakePod("pod-" + std::to_string(i)).Gate("g").Build());
  Run();
  const std::string text = Dump();
  size_t lines = 0;
  for (size_t at = text.find("\"Dump of scheduling queue\""); at != std::string::npos;
       at = text.find("\"Dump of scheduling queue\"", at + 1))
    ++lines;
  EXPECT_GT(lines, 1u);
  for (const char* pod : {"name: pod-0,", "name: pod-1999,"}) EXPECT_THAT(text, HasSubstr(pod));
}

}  // namespace
}  // namespace berth::live
