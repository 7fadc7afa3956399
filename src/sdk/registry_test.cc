// SPDX-License-Identifier: Apache-2.0
// Registry: what it learns of a plugin class, and how plugins are made.
#include "berth/registry.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

class OnlyFilters final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "OnlyFilters";
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
};

class Both final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Both";
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
  int64_t ScoreNode(const Pod&, NodeView) const override { return 0; }
};

class Sorter final : public QueueSortPlugin, public PreEnqueuePlugin {
 public:
  static constexpr std::string_view kName = "Sorter";
  bool Less(const QueuedPod&, const QueuedPod&) const override { return false; }
  Verdict PreEnqueue(const Pod&) const override { return {}; }
};

class WithArgs final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "WithArgs";
  struct Args {
    int64_t max = 35;
    void Read(ArgsReader& in) { in.Int("max", max, {.min = 1, .max = 90}); }
    Value Write() const { return Value::Object({{"max", Value::Int(max)}}); }
  };
  explicit WithArgs(const Args& args) : max(args.max) {}
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
  int64_t max;
};

class Fails final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Fails";
  struct Args {
    void Read(ArgsReader&) {}
  };
  static Result<std::unique_ptr<Plugin>> Make(const Args&, Handle&) { return Error("not today"); }
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
};

class NoHandle final : public Handle {
 public:
  const std::string& profile_name() const override { return name_; }
  const Clock& clock() const override { std::abort(); }
  uint64_t Random() override { return 0; }
  WaitingPods& waiting() override { std::abort(); }
  Writer& writer() override { std::abort(); }
  const std::vector<std::string>& extender_ignored_resources() const override { return none_; }

 private:
  std::string name_;
  std::vector<std::string> none_;
};

class RegistryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    registry_.Add<OnlyFilters>();
    registry_.Add<Both>();
    registry_.Add<Sorter>();
    registry_.Add<WithArgs>();
    registry_.Add<Fails>();
  }
  Registry registry_;
  NoHandle handle_;
};

TEST_F(RegistryTest, KnowsWhereAPluginTakesPart) {
  EXPECT_EQ(registry_.Find("OnlyFilters")->points, Bit(Point::kFilter));
  EXPECT_EQ(registry_.Find("Both")->points, Bit(Point::kFilter) | Bit(Point::kScore));
  EXPECT_EQ(registry_.Find("Sorter")->points, Bit(Point::kQueueSort) | Bit(Point::kPreEnqueue));
  EXPECT_EQ(registry_.Find("Unknown"), nullptr);
}

TEST_F(RegistryTest, CompletesAndChecksArguments) {
  const PluginDescriptor& d = *registry_.Find("WithArgs");
  EXPECT_TRUE(d.has_args);
  EXPECT_FALSE(registry_.Find("Both")->has_args);
  std::vector<FieldError> errors;
  EXPECT_EQ(d.complete_args(nullptr, "args", errors).ToJson(), "{\"max\":35}");
  EXPECT_TRUE(errors.empty());
  const Value bad = Value::Object({{"max", Value::Int(120)}, {"min", Value::Int(1)}});
  d.complete_args(&bad, "args", errors);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(), "args.max: Invalid value: 120: must be in [1, 90]");
  EXPECT_EQ(errors[1].ToString(), "args.min: unknown field \"min\"");
}

TEST_F(RegistryTest, MakesPluginsWithTheirArguments) {
  const Value args = Value::Object({{"max", Value::Int(50)}});
  const auto made = registry_.Find("WithArgs")->make(&args, handle_);
  ASSERT_TRUE(made.ok());
  const auto* plugin = dynamic_cast<const WithArgs*>(made.value().get());
  ASSERT_NE(plugin, nullptr);
  EXPECT_EQ(plugin->max, 50);
  EXPECT_TRUE(registry_.Find("Sorter")->make(nullptr, handle_).ok());
}

TEST_F(RegistryTest, PassesOnWhatMakeSays) {
  const auto made = registry_.Find("Fails")->make(nullptr, handle_);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().text(), "not today");
}

TEST_F(RegistryTest, RemembersNamesAddedTwice) {
  EXPECT_TRUE(registry_.duplicates().empty());
  registry_.Add<Both>();
  EXPECT_EQ(registry_.duplicates(), std::vector<std::string>{"Both"});
  EXPECT_EQ(registry_.all().size(), 5u);
}

}  // namespace
}  // namespace berth
