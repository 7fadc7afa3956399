// SPDX-License-Identifier: Apache-2.0
// Protobuf messages by hand, right and wrong ones.
#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>

namespace berth {

// A message that is being written; converts to its bytes.
class ProtoBytes {
 public:
  ProtoBytes& Text(uint32_t number, std::string_view text) {
    protozero::pbf_writer(bytes_).add_bytes(number, text.data(), text.size());
    return *this;
  }
  ProtoBytes& Number(uint32_t number, int64_t value) {
    protozero::pbf_writer(bytes_).add_int64(number, value);
    return *this;
  }
  ProtoBytes& Fixed(uint32_t number, uint64_t value) {
    protozero::pbf_writer(bytes_).add_fixed64(number, value);
    return *this;
  }
  ProtoBytes& Message(uint32_t number, const ProtoBytes& message) { return Text(number, message.bytes_); }
  // An entry of a map.
  ProtoBytes& Entry(uint32_t number, std::string_view key, std::string_view value) {
    return Message(number, ProtoBytes().Text(1, key).Text(2, value));
  }
  // The same of quantities.
  ProtoBytes& Amount(uint32_t number, std::string_view key, std::string_view quantity) {
    return Message(number, ProtoBytes().Text(1, key).Message(2, ProtoBytes().Text(1, quantity)));
  }
  ProtoBytes& Raw(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// An object as it travels.
inline std::string InEnvelope(std::string_view kind, const ProtoBytes& object, std::string_view api_version = "v1") {
  ProtoBytes unknown;
  unknown.Message(1, ProtoBytes().Text(1, api_version).Text(2, kind)).Message(2, object).Text(3, "").Text(4, "");
  return std::string("k8s\0", 4) + unknown.bytes();
}

// An event of a watch, with the length before it.
inline std::string Framed(const ProtoBytes& message) {
  const size_t size = message.bytes().size();
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift & 0xff);
  return frame + message.bytes();
}
inline ProtoBytes WatchMessage(std::string_view type, std::string_view object) {
  return ProtoBytes().Text(1, type).Message(2, ProtoBytes().Text(1, object));
}

// As PodJson of the API server for tests, and what else it says.
inline ProtoBytes PodProto(std::string_view name, uint64_t version, std::string_view uid = "u") {
  ProtoBytes meta;
  meta.Text(1, name).Text(2, "").Text(3, "ns").Text(4, "").Text(5, uid).Text(6, std::to_string(version)).Number(7, 0);
  meta.Message(8, ProtoBytes());
  return ProtoBytes().Message(1, meta).Message(2, ProtoBytes().Message(2, ProtoBytes().Text(1, "c")));
}

}  // namespace berth
