// SPDX-License-Identifier: Apache-2.0
// Encodings: in which form we speak with an API server about what.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "berth/host/kinds.h"

namespace berth::client {

enum class Encoding : uint8_t { kJson, kProtobuf };

// What a Content-Type names; anything but protobuf counts as JSON, which the reader will judge.
Encoding EncodingOf(std::string_view content_type);
// The header of a request whose answer we can read in that encoding. Whoever can read protobuf reads JSON, too.
std::string_view AcceptOf(Encoding encoding);
std::string_view ContentTypeOf(Encoding encoding);

// How a server says that it does not have the form that was asked for, or that was sent.
inline constexpr int kNotAcceptable = 406, kUnsupportedMediaType = 415;

// What is wanted where both sides can: protobuf, as kube-scheduler has it by default.
struct EncodingOptions {
  Encoding answers = Encoding::kProtobuf;  // lists, watches, objects
  Encoding bodies = Encoding::kProtobuf;   // bindings, events, leases

  // From clientConnection: acceptContentTypes and contentType mean what they mean to client-go. Without the first the
  // second decides about answers as well; an empty one is protobuf, and one that we do not have is JSON.
  static EncodingOptions From(std::string_view accept_content_types, std::string_view content_type);
};

// What is written as a whole. Patches have no form but JSON.
enum class Written : uint8_t { kBinding, kEvent, kLease };

// The one place that chooses: protobuf where it is wanted, we have a decoder, and the server has not shown that it does
// not do it.
// Thread safety: all of it.
class Encodings {
 public:
  explicit Encodings(EncodingOptions options) : options_(options) {}

  Encoding Of(Kind kind) const;     // of answers about objects of that kind
  Encoding Of(Written what) const;  // of bodies
  // Of the answer to what is written; JSON where the body is.
  Encoding AnswerTo(Written what) const;

  // The server does not do protobuf here: from now on it is JSON. True the first time.
  bool GiveUp(Kind kind) { return !json_kinds_[static_cast<size_t>(kind)].exchange(true); }
  bool GiveUp(Written what) { return !json_bodies_[static_cast<size_t>(what)].exchange(true); }

 private:
  const EncodingOptions options_;
  std::array<std::atomic<bool>, kKindCount> json_kinds_{};
  std::array<std::atomic<bool>, 3> json_bodies_{};
};

}  // namespace berth::client
