// SPDX-License-Identifier: Apache-2.0
// KeptEvent: an event as it is kept while it is on its way, with all its texts in one piece of memory.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "client/cluster_api.h"

namespace berth::client {

// What was sent is looked at again only if the server does not take it; a copy of the record would have memory of its
// own for most of its texts.
class KeptEvent {
 public:
  explicit KeptEvent(const EventRecord& event);

  // As it was.
  EventRecord Record() const;
  // Its own name, and the namespace of what it is about.
  std::string_view name() const { return Text(kName); }
  std::string_view about_namespace() const { return Text(kAboutNamespace); }

 private:
  enum Which : size_t { kAboutNamespace, kAboutName, kAboutUid, kNote, kRelated, kController, kVersion, kName, kCount };
  std::string_view Text(Which which) const {
    const size_t begin = which == 0 ? 0 : ends_[which - 1];
    return std::string_view(all_).substr(begin, ends_[which] - begin);
  }

  std::string all_;
  std::array<size_t, kCount> ends_;
  // As the record has them.
  std::string_view type_, reason_, action_;
  Time time_;
  const char *kind_, *api_version_;
  std::optional<EventSeries> series_;
  bool legacy_;
};

}  // namespace berth::client
