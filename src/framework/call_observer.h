// SPDX-License-Identifier: Apache-2.0
// PluginCall: one call of plugin code. CallObserver: watches calls: a timer, the check of what plugins read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "berth/plugin.h"
#include "util/crash_note.h"

namespace berth::framework {

struct Profile;

// What of a plugin is called.
enum class PluginFunction : uint8_t {
  kPreEnqueue,
  kLess,
  kPreFilter,
  kAddPod,
  kRemovePod,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kNormalize,
  kReserve,
  kUnreserve,
  kPermit,
  kPreBindPreFlight,
  kPreBind,
  kBind,
  kPostBind,
  kSign,
  kClone,  // of a state
  kHint,
  kMakeIndex,
  kIndex,  // of the plugin: it is told of a change
  kFactory,
  kDependsOn,
  kTracksPods,
  kNormalization,
  kEventsToRegister,
  kAnnotations,
};
inline constexpr size_t kPluginFunctions = 28;
std::string_view ToString(PluginFunction function);  // "PreFilter"

// What a call is about, as far as the function is about such things: a pod, a batch of nodes or one by name; and what
// the plugin declares to read, where it declares that.
struct CallTopic {
  const Pod* pod = nullptr;
  const NodeBatch* nodes = nullptr;
  const std::string* node = nullptr;
  const Depends* depends = nullptr;
};

// Lives while the call lasts, on the stack of whoever makes it; a crash meanwhile is blamed on it.
class PluginCall final : public util::CrashNote {
 public:
  PluginCall(const Profile& made_of, uint16_t called, PluginFunction what, const CallTopic& about = {})
      : CrashNote(&Describe), profile(made_of), plugin(called), function(what), topic(about) {
    Begin();
  }
  const std::string& name() const;  // the plugin's

  const Profile& profile;
  const uint16_t plugin;  // index into Profile::plugins
  const PluginFunction function;
  const CallTopic topic;

 private:
  static void Describe(const CrashNote& note, util::CrashLine& line);
};

// What the plugin is shown of the cluster; null where the function is not shown it.
struct CallView {
  const Cycle* cycle = nullptr;
  const NodeBatch* nodes = nullptr;
};

// How a call ended. One that threw ended with kError.
struct CallEnd {
  Code code = Code::kSuccess;
  std::optional<Epochs> holds_while = {};  // PreFilter's and PreScore's
};

// Thread safety: Filter and Score are called from several threads at once, and so is their observer.
class CallObserver {
 public:
  virtual ~CallObserver() = default;

  // The call itself, with those around it that are still to come.
  class Next {
   public:
    template <class Make>  // CallEnd(const CallView&)
    Next(const PluginCall& call, std::span<CallObserver* const> observers, Make& make)
        : call_(call),
          observers_(observers),
          make_(&make),
          invoke_([](void* to, const CallView& view) { return (*static_cast<Make*>(to))(view); }) {}
    CallEnd operator()(const CallView& view) const {
      if (observers_.empty()) return invoke_(make_, view);
      return observers_.front()->Around(call_, view, Next(*this, observers_.subspan(1)));
    }

   private:
    Next(const Next& other, std::span<CallObserver* const> rest)
        : call_(other.call_), observers_(rest), make_(other.make_), invoke_(other.invoke_) {}

    const PluginCall& call_;
    std::span<CallObserver* const> observers_;
    void* make_;
    CallEnd (*invoke_)(void*, const CallView&);
  };

  // Calls `next`, exactly once, with `view` or with another of the same cluster, and returns what that returned.
  virtual CallEnd Around(const PluginCall& call, const CallView& view, const Next& next) = 0;
  // The functions that answer later, PreBind and Bind, come here instead: `done` as the plugin is to have it. It may be
  // called on any thread, when the profile is gone, or never.
  virtual Done Awaiting(const PluginCall&, Done done) { return done; }
};

// The observers, outermost first. Not part of what a profile is: that stays as it was made.
// Thread safety: Add before the first call that is to be seen.
class CallObservers {
 public:
  // REQUIRES: `observer` lives as long as plugins of the profile are called.
  void Add(CallObserver& observer) { all_.push_back(&observer); }
  std::span<CallObserver* const> all() const { return all_; }

 private:
  std::vector<CallObserver*> all_;
};

}  // namespace berth::framework
