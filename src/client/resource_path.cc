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
  static constexpr std::array<std::string_view, kKindCount> kPaths = {"/api/v1/pods",
                                                                      "/api/v1/nodes",
                                                                      "/api/v1/namespaces",
                                                                      "/api/v1/services",
                                                                      "/api/v1/replicationcontrollers",
                                                                      "/apis/apps/v1/replicasets",
                                                                      "/apis/apps/v1/statefulsets",
                                                                      "/apis/scheduling.k8s.io/v1/priorityclasses",
                                                                      "/apis/policy/v1/poddisruptionbudgets",
                                                                      "/api/v1/persistentvolumeclaims",
                                                                      "/api/v1/persistentvolumes",
                                                                      "/apis/storage.k8s.io/v1/storageclasses",
                                                                      "/apis/storage.k8s.io/v1/csinodes",
                                                                      "/apis/storage.k8s.io/v1/csidrivers",
                                                                      "/apis/storage.k8s.io/v1/csistoragecapacities",
                                                                      "/apis/storage.k8s.io/v1/volumeattachments",
                                                                      "/apis/resource.k8s.io/v1/resourceclaims",
                                                                      "/apis/resource.k8s.io/v1/resourceslices",
                                                                      "/apis/resource.k8s.io/v1/deviceclasses"};
  return kPaths.at(static_cast<size_t>(kind));
}

std::string_view Selection(Kind kind) {
  // status.phase!=Succeeded,status.phase!=Failed
  return kind == Kind::kPod ? "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&" : "";
}

std::string PodPath(std::string_view ns, std::string_view name) {
  return "/api/v1/namespaces/" + UrlEncode(ns) + "/pods/" + UrlEncode(name);
}

}  // namespace berth::client
