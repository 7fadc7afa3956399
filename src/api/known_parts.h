// SPDX-License-Identifier: Apache-2.0
// KnownParts: what parts of messages say, by their bytes, so that a part that comes again is not read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "util/secret_hash.h"

namespace berth {

// Thread safety: none.
template <class Part>
class KnownParts {
 public:
  // What is read is larger than its bytes, and it is kept when nobody has it any more: of huge parts nothing is kept.
  static constexpr size_t kMaxPartBytes = size_t{16} << 10;
  // Nor of parts with more items than that: an item may be one byte, and a hundred when it is read.
  static constexpr size_t kMaxPartItems = 256;

  // Keeps at most `most` parts and `most_bytes` of their bytes. Those that were not found lately go first.
  explicit KnownParts(size_t most = 4096, size_t most_bytes = size_t{4} << 20) : most_(most), most_bytes_(most_bytes) {}
  KnownParts(const KnownParts&) = delete;
  KnownParts& operator=(const KnownParts&) = delete;

  // What these bytes say; null: nothing was kept with them. Valid until the next Keep.
  const Part* Find(std::string_view bytes) {
    if (last_ && last_->bytes == bytes) return &last_->part;  // replicas come one after another
    if (bytes.size() > kMaxPartBytes) return nullptr;
    const auto it = known_.find(SecretHash64(bytes));
    if (it == known_.end() || it->second.bytes != bytes) return nullptr;
    last_ = &it->second;
    last_->used = true;
    return &last_->part;
  }
  // These bytes say that. REQUIRES: they are read alike wherever they come.
  void Keep(std::string_view bytes, Part part) {
    if (bytes.size() > kMaxPartBytes || bytes.size() > most_bytes_) return;
    const uint64_t hash = SecretHash64(bytes);
    if (known_.count(hash) != 0) return;  // two parts with one hash: the first has it
    last_ = nullptr;
    MakeRoom(bytes.size());
    known_.emplace(hash, Entry{std::move(part), std::string(bytes)});
    round_.push_back(hash);
    bytes_ += bytes.size();
  }
  size_t size() const { return known_.size(); }

 private:
  struct Entry {
    Part part;
    std::string bytes;
    bool used = false;  // since the last look for room
  };

  // For one more part of this size.
  void MakeRoom(size_t bytes) {
    while (!round_.empty() && (round_.size() >= most_ || bytes_ + bytes > most_bytes_)) {
      const uint64_t hash = round_.front();
      round_.pop_front();
      const auto it = known_.find(hash);
      if (std::exchange(it->second.used, false)) {
        round_.push_back(hash);
        continue;
      }
      bytes_ -= it->second.bytes.size();
      known_.erase(it);
    }
  }

  const size_t most_, most_bytes_;
  std::unordered_map<uint64_t, Entry> known_;  // by the hash of their bytes
  std::deque<uint64_t> round_;                 // all of them, in the order in which they are looked at for room
  size_t bytes_ = 0;                           // of all of them
  Entry* last_ = nullptr;                      // that was found, since the last Keep
};

// Pieces of a message as one text: in the message itself if they lie there one after another.
class GatheredBytes {
 public:
  // `store` is for pieces that do not; it keeps its memory for the next message.
  explicit GatheredBytes(std::string& store) : store_(store) { store.clear(); }
  // REQUIRES: `piece` outlives the text.
  void Add(std::string_view piece) {
    if (piece.data() == run_.data() + run_.size()) {
      run_ = {run_.data(), run_.size() + piece.size()};
    } else {
      store_ += run_;
      run_ = piece;
    }
  }
  // All of them. Nothing may be added any more.
  std::string_view Text() {
    if (store_.empty()) return run_;
    store_ += std::exchange(run_, {});
    return store_;
  }

 private:
  std::string& store_;
  std::string_view run_;  // the last ones, which are not in the store
};

}  // namespace berth
