// SPDX-License-Identifier: Apache-2.0
// LoadError: one thing wrong with one object read from outside, precise enough to find and fix it.
#pragma once

#include <string>
#include <string_view>

namespace berth {

struct LoadError {
  std::string file;        // as the user named it; `-` for standard input, empty where there is no file
  std::string kind;        // empty when the document could not be read so far
  std::string name;        // `namespace/name` or `name`; empty when unknown
  std::string path;        // spec.containers[0].resources.requests[cpu]; empty when it is about the whole document
  std::string value;       // the offending value as text; empty where there is none
  std::string message;     // what is wrong, with the value, in the API server's words where it has some
  bool malformed = false;  // not JSON at all: nothing after it could be read

  // One line: `file: Kind "ns/name": path: message`, parts that are empty left out. What looks like a key or a token is
  // shown as ***.
  std::string Text() const;
  bool operator==(const LoadError&) const = default;
};

// The value in double quotes, escaped as Go's %q does for printable text.
std::string Quoted(std::string_view text);

}  // namespace berth
