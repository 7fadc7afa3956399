// SPDX-License-Identifier: Apache-2.0
// PluginCall: one call of plugin code. CallObserver: watches calls: a timer, the check of what plugins read. CallTimer:
// one that looks on in some cycles only. CallCounts: how often plugins were asked.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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

// An observer of some cycles, chosen one by one, and of their extension points as a whole. In other cycles it costs
// nothing: it is not called, and nobody looks at a clock.
class CallTimer : public CallObserver {
 public:
  using StageEnd = std::function<void(Code)>;
  // Whether the cycle that begins is timed.
  virtual bool Draw() = 0;
  // An extension point begins. What it returns is told how it ended, on any thread, perhaps when the profile is gone,
  // or never: then it does not count.
  virtual StageEnd StageBegins(PluginFunction point) = 0;
};

// How often the plugins of a profile were asked, by function; at Filter and Score once for every node.
// Thread safety: all methods.
class CallCounts {
 public:
  explicit CallCounts(size_t plugins) : counts_(plugins * kPluginFunctions) {}
  void Add(uint16_t plugin, PluginFunction function, uint64_t times) {
    counts_[At(plugin, function)].fetch_add(times, std::memory_order_relaxed);
  }
  uint64_t Get(uint16_t plugin, PluginFunction function) const {
    return counts_[At(plugin, function)].load(std::memory_order_relaxed);
  }

 private:
  static size_t At(uint16_t plugin, PluginFunction function) {
    return plugin * kPluginFunctions + static_cast<size_t>(function);
  }
  std::vector<std::atomic<uint64_t>> counts_;
};

// The observers, outermost first. Not part of what a profile is: that stays as it was made.
// Thread safety: Add, AddTimer and Count before the first call that is to be seen; `timed` is the scheduling thread's,
// and is read by those that judge for it.
class CallObservers {
 public:
  // REQUIRES for all three: the argument lives as long as plugins of the profile are called.
  void Add(CallObserver& observer) {
    all_.insert(all_.begin() + static_cast<ptrdiff_t>(always_), &observer);
    ++always_;
  }
  // The innermost: what others do is not timed. REQUIRES: called once at most.
  void AddTimer(CallTimer& timer) {
    all_.push_back(&timer);
    timer_ = &timer;
  }
  void Count(CallCounts& counts) { counts_ = &counts; }

  // Those of a call, in a cycle that is timed or not.
  std::span<CallObserver* const> seeing(bool timed) const { return {all_.data(), timed ? all_.size() : always_}; }
  CallTimer* timer() const { return timer_; }     // may be null
  CallCounts* counts() const { return counts_; }  // may be null
  // Whether the present cycle is timed (TimedCycle).
  bool timed() const { return timed_; }
  void SetTimed(bool timed) { timed_ = timed; }

 private:
  std::vector<CallObserver*> all_;  // the timer, if there is one, last
  size_t always_ = 0;               // how many look on in every cycle
  CallTimer* timer_ = nullptr;
  CallCounts* counts_ = nullptr;
  bool timed_ = false;
};

}  // namespace berth::framework
