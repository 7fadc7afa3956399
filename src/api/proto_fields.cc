// SPDX-License-Identifier: Apache-2.0
#include "api/proto_fields.h"

#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

namespace berth {

ProtoFields::Number ProtoFields::LongVarint(const char* at, const char* end) {
  try {  // how protozero says that bytes are missing
    const uint64_t value = protozero::decode_varint(&at, end);
    return {value, at};
  } catch (const protozero::exception&) {
    return {0, nullptr};
  }
}

}  // namespace berth
