// SPDX-License-Identifier: Apache-2.0
// What a plugin's answers depend on, the signature of a pod, and indexes a plugin may own. Declaring them is what lets
// answers be remembered and only the rows that changed be judged again; the default, "everything", is always right and
// never remembered. Remembering must never change a decision: `berth sim --verify` decides both ways, and says when a
// plugin read what it does not declare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "berth/epochs.h"
#include "berth/object_change.h"
#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

// What one answer depends on. For PreFilter and PreScore, which judge no row, only the epochs count.
//
// Filter and Score: what NodeBatch and NodeView show belongs to the judged rows, so `row` is to name it. What Snapshot
// shows is to be named in `epochs`: the whole column of a resource is kOtherRows. Tables that only say what a row's ids
// mean (labels(), taint_sets(), FindRow() …) are covered by the row's field as well. A node's conditions are in no
// group: a plugin that reads them depends on Everything().
//
// An answer of Filter or Score is made from the row and from the state that PreFilter or PreScore left: epochs that can
// change the answer through that state are to be named for Filter and Score as well.
struct Depends {
  RowFields row = row_field::kAll;
  Epochs epochs = epoch::kAnything;
  static constexpr Depends OnRow(RowFields fields) { return {fields, 0}; }
  static constexpr Depends Everything() { return {}; }
};

// Collects what makes two pods equal in a plugin's eyes. Equal signatures must get equal answers on equal clusters.
// Whatever was added can be told apart in the text, which is bytes and not for reading: signatures are made for every
// pod and every change of a placed one, so numbers stay numbers.
class Signature {
 public:
  Signature() { text_.reserve(kUsual); }
  void Add(std::string_view part) {
    if (part.size() <= kLongestShort) {
      text_.push_back(static_cast<char>(part.size()));
    } else {
      AddWord(kLong, static_cast<int64_t>(part.size()));
    }
    text_.append(part);
  }
  void Add(int64_t number) {
    if (number >= 0 && number < kSmallNumbers) {
      text_.push_back(static_cast<char>(kSmall + number));
    } else {
      AddWord(kNumber, number);
    }
  }
  const std::string& text() const { return text_; }

  // For hosts: the next plugin begins. What the one before has added does not count if it has not signed.
  void EndPlugin(bool has_signed) {
    if (!has_signed) text_.resize(begun_);
    text_.push_back(static_cast<char>(has_signed ? kSigned : kNotSigned));
    begun_ = text_.size();
  }
  std::string Take() && { return std::move(text_); }

 private:
  static constexpr size_t kUsual = 240;  // bytes, of a pod's
  // The first byte of a part says what it is: the length of a short text, a small number, or one of these.
  static constexpr size_t kLongestShort = 0x7F;
  static constexpr int kSmall = 0x80, kSmallNumbers = 0x40;
  static constexpr int kLong = 0xC0, kNumber = 0xC1, kSigned = 0xC2, kNotSigned = 0xC3;

  void AddWord(int kind, int64_t word) {
    char bytes[1 + sizeof(word)] = {static_cast<char>(kind)};
    std::memcpy(bytes + 1, &word, sizeof(word));
    text_.append(bytes, sizeof(bytes));
  }

  std::string text_;
  size_t begun_ = 0;  // where the parts of the plugin that signs now begin
};

// Counts a plugin keeps as the cluster changes, instead of scanning pods in every PreFilter.
// Called on the scheduling thread only, after the columns changed, for assumed pods too. A row that was given up with
// its last pod or node may lie beyond snapshot.rows(). Of a newer version of a pod it is told, as of a pod that goes
// and one that comes, when more than the pod's status has changed; PodRecord::pod may be another object then. If only
// its labels have, the columns hold the newer version in both calls.
class PluginIndex {
 public:
  virtual ~PluginIndex() = default;
  virtual void PodAdded(const Snapshot& snapshot, const PodRecord& pod) = 0;
  virtual void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) = 0;
  // `before` or `after` is null when the node appears or goes; its pods stay and are not reported again.
  virtual void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) = 0;
  // An object of a kind kept in ObjectStores changed; a change of no object: the index is new, look at all of them.
  virtual void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) = 0;
  // Something was assumed of an object, or is no longer (ClusterAccess::Assume); the change has it as it was and as it
  // is to be believed now (Snapshot::Believed).
  virtual void ObjectAssumed(const Snapshot&, const ObjectChange&) {}
  // Grows whenever an answer that reads the index may have changed.
  virtual uint64_t epoch() const { return 0; }
};

}  // namespace v1
}  // namespace berth
