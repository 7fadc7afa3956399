// SPDX-License-Identifier: Apache-2.0
#include "client/kept_event.h"

namespace berth::client {

KeptEvent::KeptEvent(const EventRecord& event)
    : type_(event.type),
      reason_(event.reason),
      action_(event.action),
      time_(event.time),
      kind_(event.kind),
      api_version_(event.api_version),
      series_(event.series),
      legacy_(event.legacy) {
  // In the order of Which.
  const std::array<std::string_view, kCount> texts = {
      event.regarding.namespace_, event.regarding.name,   event.regarding.uid, event.note, event.related,
      event.reporting_controller, event.resource_version, event.name};
  size_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  all_.reserve(size);
  for (size_t i = 0; i < kCount; ++i) {
    all_.append(texts[i]);
    ends_[i] = all_.size();
  }
}

EventRecord KeptEvent::Record() const {
  const auto text = [this](Which which) { return std::string(Text(which)); };
  EventRecord event;
  event.regarding = {text(kAboutNamespace), text(kAboutName), text(kAboutUid)};
  event.type = type_;
  event.reason = reason_;
  event.action = action_;
  event.note = text(kNote);
  event.related = text(kRelated);
  event.reporting_controller = text(kController);
  event.time = time_;
  event.resource_version = text(kVersion);
  event.kind = kind_;
  event.api_version = api_version_;
  event.name = text(kName);
  event.series = series_;
  event.legacy = legacy_;
  return event;
}

}  // namespace berth::client
