// SPDX-License-Identifier: Apache-2.0
#include "bench/live_cleanup.h"

#include <algorithm>
#include <map>
#include <utility>

#include "bench/value_edit.h"

namespace berth::bench {
namespace {

constexpr Duration kCleanupPatience = Duration::Seconds(60);  // without anything going
constexpr Duration kNobodyWorks = Duration::Seconds(5);       // with one that nobody has seen at work
constexpr Duration kLookEvery = Duration::Millis(500);        // at namespaces

class Cleaner {
 public:
  Cleaner(LiveObjects& objects, LiveLoop& loop, const std::function<bool()>& give_up)
      : objects_(objects), loop_(loop), give_up_(give_up), progress_(loop.Now()) {}

  std::vector<std::string> Run() {
    objects_.StopTrying();
    // What is being made is made or refused first, or it would be made after its deletion.
    const bool quiet = Until([this] { return objects_.under_way() == 0; });
    if (quiet && Remove([](Kind kind) { return kind == Kind::kPod; }) &&
        Remove([](Kind kind) { return kind != Kind::kPod && kind != Kind::kNamespace; }) &&
        Remove([](Kind kind) { return kind == Kind::kNamespace; }))
      AwaitNamespaces();
    std::vector<std::string> left;
    for (const ObjectKey& key : objects_.All()) {
      const auto reason = reasons_.find(key);
      left.push_back(reason != reasons_.end() ? reason->second : key.Text());
    }
    return left;
  }

 private:
  // False: it is time to give up.
  bool Until(const std::function<bool()>& done) {
    while (!done()) {
      if (give_up_() || loop_.Now() - progress_ > kCleanupPatience) return false;
      loop_.Turn(loop_.Now() + kLookEvery);
    }
    return true;
  }

  bool Remove(const std::function<bool(Kind)>& wanted) {
    for (const ObjectKey& key : objects_.All()) {
      if (!wanted(key.kind)) continue;
      if (!Until([this] { return !objects_.full(); })) return false;
      objects_.Remove(key, Finalizers::kStrip, [this, key](const Written& written) {
        if (written.error.ok()) {
          progress_ = loop_.Now();
        } else {
          reasons_[key] = written.error.text();
        }
      });
    }
    return Until([this] { return objects_.under_way() == 0; });
  }

  void AwaitNamespaces() {
    const Time began = loop_.Now();
    bool controlled = false;  // somebody works on them, or has
    for (;;) {
      const std::vector<ObjectKey> left = objects_.All();
      if (std::none_of(left.begin(), left.end(), IsNamespace)) return;
      const bool release = !controlled && loop_.Now() - began > kNobodyWorks;
      for (const ObjectKey& key : left) {
        if (!IsNamespace(key)) continue;
        if (!Until([this] { return !objects_.full(); })) return;
        if (release) {
          objects_.ReleaseNamespace(key, [this, key](const Written& written) {
            if (!written.error.ok()) reasons_[key] = written.error.text();
          });
          continue;
        }
        objects_.LookWhetherGone(key, [&, key](bool gone, const Value& object) {
          if (gone) progress_ = loop_.Now();
          controlled |= gone || !At(At(object, "status"), "conditions").items().empty();
          if (!gone) reasons_[key] = key.Text() + ": still terminating";
        });
      }
      const Time next = loop_.Now() + kLookEvery;
      if (!Until([this] { return objects_.under_way() == 0; })) return;
      if (release) return;
      if (!Until([&] { return loop_.Now() >= next; })) return;
    }
  }

  static bool IsNamespace(const ObjectKey& key) { return key.kind == Kind::kNamespace; }

  LiveObjects& objects_;
  LiveLoop& loop_;
  const std::function<bool()>& give_up_;
  Time progress_;  // when something last went
  std::map<ObjectKey, std::string> reasons_;
};

}  // namespace

std::vector<std::string> CleanUp(LiveObjects& objects, LiveLoop& loop, const std::function<bool()>& give_up) {
  return Cleaner(objects, loop, give_up).Run();
}

}  // namespace berth::bench
