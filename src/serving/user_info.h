// SPDX-License-Identifier: Apache-2.0
// UserInfo: who asks, as Kubernetes names him.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth::serving {

struct UserInfo {
  std::string name, uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;

  bool operator==(const UserInfo&) const = default;
};

inline constexpr char kAnonymous[] = "system:anonymous";
inline constexpr char kUnauthenticatedGroup[] = "system:unauthenticated";
inline constexpr char kAuthenticatedGroup[] = "system:authenticated";
inline constexpr char kMastersGroup[] = "system:masters";

}  // namespace berth::serving
