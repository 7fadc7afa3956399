// SPDX-License-Identifier: Apache-2.0
// Registry: plugin names to factories. One line per plugin, no static initialisers, order does not matter.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "berth/args.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/node_plugin.h"
#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

// What is known of a plugin before it is made.
struct PluginDescriptor {
  std::string name;
  PointSet points = 0;
  bool has_args = false;
  // Reads `args` (null: none given), adding complaints to `errors` with `path` in front, and returns the arguments with
  // defaults filled in, for display; null when the plugin has none.
  std::function<Value(const Value* args, const std::string& path, std::vector<FieldError>& errors)> complete_args;
  // REQUIRES: complete_args found nothing to complain about.
  std::function<Result<std::unique_ptr<Plugin>>(const Value* args, Handle& handle)> make;
};

class Registry {
 public:
  // Registers T, whose static `kName` is its name in the configuration. T may have a nested `Args` with
  // `void Read(ArgsReader&)` and optionally `Value Write() const` (shown by `berth config defaults`). T is constructed
  // from (Args, Handle&), (Args), (Handle&) or nothing, whichever exists; or through a static
  // `Result<std::unique_ptr<Plugin>> Make(const Args&, Handle&)` when making it can fail.
  template <class T>
  void Add();
  void Add(PluginDescriptor descriptor);

  // Null when unknown.
  const PluginDescriptor* Find(std::string_view name) const;
  const std::map<std::string, PluginDescriptor, std::less<>>& all() const { return by_name_; }
  // Names that were added twice; profiles refuse to be built while there are any.
  const std::vector<std::string>& duplicates() const { return duplicates_; }

 private:
  std::map<std::string, PluginDescriptor, std::less<>> by_name_;
  std::vector<std::string> duplicates_;
};

namespace internal {

struct NoArgs {
  void Read(ArgsReader&) {}
};
template <class T, class = void>
struct ArgsOf {
  using type = NoArgs;
};
template <class T>
struct ArgsOf<T, std::void_t<typename T::Args>> {
  using type = typename T::Args;
};

template <class T>
constexpr PointSet PointsOf() {
  PointSet points = 0;
  auto add = [&](bool is, Point point) {
    if (is) points |= Bit(point);
  };
  add(std::is_base_of_v<PreEnqueuePlugin, T>, Point::kPreEnqueue);
  add(std::is_base_of_v<QueueSortPlugin, T>, Point::kQueueSort);
  add(std::is_base_of_v<PreFilterPlugin, T>, Point::kPreFilter);
  add(std::is_base_of_v<PostFilterPlugin, T>, Point::kPostFilter);
  add(std::is_base_of_v<PreScorePlugin, T>, Point::kPreScore);
  add(std::is_base_of_v<ReservePlugin, T>, Point::kReserve);
  add(std::is_base_of_v<PermitPlugin, T>, Point::kPermit);
  add(std::is_base_of_v<PreBindPlugin, T>, Point::kPreBind);
  add(std::is_base_of_v<BindPlugin, T>, Point::kBind);
  add(std::is_base_of_v<PostBindPlugin, T>, Point::kPostBind);
  if constexpr (std::is_base_of_v<NodePlugin, T>) {
    // A NodePlugin takes part where it overrides something.
    add(!std::is_same_v<decltype(&T::FilterNode), decltype(&NodePlugin::FilterNode)>, Point::kFilter);
    add(!std::is_same_v<decltype(&T::ScoreNode), decltype(&NodePlugin::ScoreNode)>, Point::kScore);
  } else {
    add(std::is_base_of_v<FilterPlugin, T>, Point::kFilter);
    add(std::is_base_of_v<ScorePlugin, T>, Point::kScore);
  }
  return points;
}

template <class T, class Args>
Result<std::unique_ptr<Plugin>> Construct(const Args& args, Handle& handle) {
  if constexpr (requires { T::Make(args, handle); }) {
    return T::Make(args, handle);
  } else if constexpr (std::is_constructible_v<T, const Args&, Handle&>) {
    return std::unique_ptr<Plugin>(std::make_unique<T>(args, handle));
  } else if constexpr (std::is_constructible_v<T, const Args&>) {
    return std::unique_ptr<Plugin>(std::make_unique<T>(args));
  } else if constexpr (std::is_constructible_v<T, Handle&>) {
    return std::unique_ptr<Plugin>(std::make_unique<T>(handle));
  } else {
    return std::unique_ptr<Plugin>(std::make_unique<T>());
  }
}

}  // namespace internal

template <class T>
void Registry::Add() {
  using Args = typename internal::ArgsOf<T>::type;
  PluginDescriptor d;
  d.name = std::string(T::kName);
  d.points = internal::PointsOf<T>();
  d.has_args = !std::is_same_v<Args, internal::NoArgs>;
  d.complete_args = [](const Value* value, const std::string& path, std::vector<FieldError>& errors) -> Value {
    Args args;
    ArgsReader reader(value, path, &errors);
    args.Read(reader);
    // A plugin without declared arguments leaves them alone: they may be for a newer version of it.
    if constexpr (!std::is_same_v<Args, internal::NoArgs>) reader.Finish();
    if constexpr (requires { args.Write(); }) return args.Write();
    return value ? *value : Value();
  };
  d.make = [](const Value* value, Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    Args args;
    std::vector<FieldError> errors;
    ArgsReader reader(value, "args", &errors);
    args.Read(reader);
    if (!errors.empty()) return Error(errors.front().ToString());
    return internal::Construct<T, Args>(args, handle);
  };
  Add(std::move(d));
}

}  // namespace v1
}  // namespace berth
