// SPDX-License-Identifier: Apache-2.0
#include "client/resource_path.h"

#include <array>

namespace berth::client {

namespace {

// Characters that stand for themselves.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"))
    plain[static_cast<unsigned char>(c)] = true;
  return plain;
}();

void AppendEncoded(std::string_view text, std::string& to) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  size_t plain = 0;
  while (plain < text.size() && kPlain[static_cast<unsigned char>(text[plain])]) ++plain;
  to.append(text.substr(0, plain));  // all of it, as names go
  for (const char c : text.substr(plain)) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain[byte]) {
      to += c;
    } else {
      to += '%';
      to += kDigits[byte >> 4];
      to += kDigits[byte & 15];
    }
  }
}

// before NS between NAME behind
std::string PathOf(std::string_view before, std::string_view ns, std::string_view between, std::string_view name,
                   std::string_view behind = "") {
  std::string path;
  path.reserve(before.size() + ns.size() + between.size() + name.size() + behind.size());
  path.append(before);
  AppendEncoded(ns, path);
  path.append(between);
  AppendEncoded(name, path);
  path.append(behind);
  return path;
}

}  // namespace

std::string UrlEncode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  AppendEncoded(text, encoded);
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

std::string PodPath(std::string_view ns, std::string_view name, std::string_view behind) {
  return PathOf("/api/v1/namespaces/", ns, "/pods/", name, behind);
}

std::string ClaimPath(std::string_view ns, std::string_view name) {
  return PathOf("/api/v1/namespaces/", ns, "/persistentvolumeclaims/", name);
}

std::string EventPath(bool core, std::string_view ns, std::string_view name) {
  return PathOf(core ? "/api/v1/namespaces/" : "/apis/events.k8s.io/v1/namespaces/", ns,
                name.empty() ? "/events" : "/events/", name);
}

std::string VolumePath(std::string_view name) { return "/api/v1/persistentvolumes/" + UrlEncode(name); }

}  // namespace berth::client
