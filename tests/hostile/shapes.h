// SPDX-License-Identifier: Apache-2.0
// Requests that are no requests, or odd ones.
#pragma once

#include <string>
#include <vector>

namespace berth::hostile {

struct Shape {
  enum class Want {
    kStatus,   // exactly that one
    kRefused,  // any of 400 and more, or an end without a word
    kAnswer,   // any answer
    kNothing,  // the rest is never sent: nobody waits for what the server says
  };
  std::string name;
  std::string text;
  Want want = Want::kRefused;
  int status = 0;
};

// `path`: one that takes a POST.
std::vector<Shape> MalformedShapes(const std::string& path);
// First bytes of a connection that begin no TLS session, or none that is ever finished.
std::vector<Shape> BrokenHandshakes();

}  // namespace berth::hostile
