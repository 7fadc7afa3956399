// SPDX-License-Identifier: Apache-2.0
#include "client/resource_path.h"

#include <array>

namespace berth::client {

std::string UrlEncode(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kDigits[byte >> 4];
      encoded += kDigits[byte & 15];
    }
  }
  return encoded;
}

std::string_view CollectionPath(Kind kind) {
  static const std::array<std::string, kKindCount> paths = [] {
    std::array<std::string, kKindCount> made;
    for (size_t i = 0; i < kKindCount; ++i) {
      const KindInfo& info = kKinds[i];
      made[i] = info.group.empty() ? "/api/" : "/apis/" + std::string(info.group) + "/";
      made[i].append(info.versions[0]).append("/").append(info.plural);
    }
    return made;
  }();
  return paths.at(static_cast<size_t>(kind));
}

std::string CollectionPath(Kind kind, std::string_view ns) {
  std::string path(CollectionPath(kind));
  if (IsNamespaced(kind)) path.insert(path.rfind('/'), "/namespaces/" + UrlEncode(ns));
  return path;
}

std::string ObjectPath(Kind kind, std::string_view ns, std::string_view name) {
  return CollectionPath(kind, ns) + "/" + UrlEncode(name);
}

std::string_view Selection(Kind kind) {
  // status.phase!=Succeeded,status.phase!=Failed
  return kind == Kind::kPod ? "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&" : "";
}

std::string PodPath(std::string_view ns, std::string_view name) {
  return "/api/v1/namespaces/" + UrlEncode(ns) + "/pods/" + UrlEncode(name);
}

std::string ClaimPath(std::string_view ns, std::string_view name) {
  return "/api/v1/namespaces/" + UrlEncode(ns) + "/persistentvolumeclaims/" + UrlEncode(name);
}

std::string VolumePath(std::string_view name) { return "/api/v1/persistentvolumes/" + UrlEncode(name); }

}  // namespace berth::client
