// SPDX-License-Identifier: Apache-2.0
#include "bench/live_cleanup.h"

#include <map>
#include <utility>

#include "bench/value_edit.h"

namespace berth::bench {
namespace {

constexpr Duration kLookEvery = Duration::Millis(500);  // at namespaces

class Cleaner {
 public:
  Cleaner(LiveObjects& objects, LiveLoop& loop, const std::function<bool()>& give_up, const CleanUpTimes& times)
      : objects_(objects), loop_(loop), give_up_(give_up), times_(times), progress_(loop.Now()) {}

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
      if (give_up_() || loop_.Now() - progress_ > times_.patience) return false;
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
    for (std::vector<ObjectKey> left = Namespaces(); !left.empty(); left = Namespaces()) {
      const Time next = loop_.Now() + kLookEvery;
      for (const ObjectKey& key : left) {
        if (!Until([this] { return !objects_.full(); })) return;
        objects_.LookWhetherGone(key, [this, &controlled, key](bool gone, const Value& object) {
          if (gone) progress_ = loop_.Now();
          controlled |= gone || !At(At(object, "status"), "conditions").items().empty();
          reasons_[key] = key.Text() + ": still terminating";
        });
      }
      if (!Until([this] { return objects_.under_way() == 0; })) return;
      if (!controlled && loop_.Now() - began > times_.nobody_works) return Release();
      if (!Namespaces().empty() && !Until([&] { return loop_.Now() >= next; })) return;
    }
  }

  void Release() {
    for (const ObjectKey& key : Namespaces()) {
      if (!Until([this] { return !objects_.full(); })) return;
      objects_.ReleaseNamespace(key, [this, key](const Written& written) {
        if (!written.error.ok()) reasons_[key] = written.error.text();
      });
    }
    (void)Until([this] { return objects_.under_way() == 0; });
  }

  std::vector<ObjectKey> Namespaces() const {
    std::vector<ObjectKey> keys = objects_.All();
    std::erase_if(keys, [](const ObjectKey& key) { return key.kind != Kind::kNamespace; });
    return keys;
  }

  LiveObjects& objects_;
  LiveLoop& loop_;
  const std::function<bool()>& give_up_;
  const CleanUpTimes& times_;
  Time progress_;  // when something last went
  std::map<ObjectKey, std::string> reasons_;
};

}  // namespace

std::vector<std::string> CleanUp(LiveObjects& objects, LiveLoop& loop, const std::function<bool()>& give_up,
                                 const CleanUpTimes& times) {
  return Cleaner(objects, loop, give_up, times).Run();
}

}  // namespace berth::bench
