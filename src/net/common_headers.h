// SPDX-License-Identifier: Apache-2.0
// CommonHeaders: headers that many requests share, judged and brought into form once.
#pragma once

#include <string>
#include <vector>

#include "berth/error.h"
#include "net/http.h"

namespace berth::net {

// Thread safety: all of it; it never changes.
class CommonHeaders {
 public:
  struct Field {
    std::string name, lower_name, value;
  };

  explicit CommonHeaders(const Headers& headers);
  // What is wrong with them: requests that have them fail with it. Names no value: it may be a secret.
  const Error& problem() const { return problem_; }
  // Without those that belong to the client (Host, Content-Length and the like).
  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
  Error problem_ = Error::Ok();
};

// Whether a header is the client's own, or says something about a connection of HTTP/1.1. `lower_name` in lower case.
bool IsClientsOwn(std::string_view lower_name);
std::string LowerName(std::string_view name);
// Ok, or which name or value has characters that are not allowed.
Error CheckHeader(std::string_view name, std::string_view value);

}  // namespace berth::net
