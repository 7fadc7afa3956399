// SPDX-License-Identifier: Apache-2.0
// Bindings go out through the Writer.
#include "plugins/default_binder.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

class RecordingWriter final : public Writer {
 public:
  void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) override {
    text = FullName(pod) + " to " + node;
    done(answer);
  }
  Verdict answer;
  std::string text;
};

class RecordingHandle final : public Handle {
 public:
  const std::string& profile_name() const override { return base_->profile_name(); }
  const Clock& clock() const override { return base_->clock(); }
  uint64_t Random() override { return base_->Random(); }
  WaitingPods& waiting() override { return base_->waiting(); }
  Writer& writer() override { return recording; }
  const std::vector<std::string>& extender_ignored_resources() const override {
    return base_->extender_ignored_resources();
  }
  RecordingWriter recording;

 private:
  std::unique_ptr<Handle> base_ = MakeTestHandle();
};

TEST(DefaultBinderTest, WritesTheBindingAndPassesTheAnswerOn) {
  for (const Verdict& answer : {Verdict(), Verdict::Fail("conflict")}) {
    RecordingHandle handle;
    handle.recording.answer = answer;
    const DefaultBinder plugin(handle);
    StateSlot slot;
    Verdict got = Verdict::Skip();
    plugin.Bind({std::make_shared<const Pod>(MakePod("p").Build()), "n"}, slot, [&](Verdict v) { got = v; });
    EXPECT_EQ(handle.recording.text, "default/p to n");
    EXPECT_EQ(got, answer);
  }
}

}  // namespace
}  // namespace berth::plugins
