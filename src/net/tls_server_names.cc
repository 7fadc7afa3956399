// SPDX-License-Identifier: Apache-2.0
#include "net/tls_server_names.h"

#include <arpa/inet.h>

#include <algorithm>

#include "util/text.h"

namespace berth::net {
namespace {

bool IsAddress(const std::string& text) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, text.c_str(), address) == 1 || inet_pton(AF_INET6, text.c_str(), address) == 1;
}

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// "*", or a DNS name in lower case, with "*." before it or not.
bool CouldBeHost(std::string_view name) {
  if (name == "*") return true;
  if (name.starts_with("*.")) name.remove_prefix(2);
  if (name.empty() || name.size() > 253) return false;
  bool inside = false;  // a label has begun
  char last = '.';
  for (const char c : name) {
    if (c == '.') {
      if (!inside || last == '-') return false;
      inside = false;
    } else if (IsLowerAlnum(c)) {
      inside = true;
    } else if (c != '-' || !inside) {
      return false;
    }
    last = c;
  }
  return inside && last != '-';
}

}  // namespace

void ServerNames::Add(size_t certificate, const std::vector<std::string>& given, const std::string& common_name,
                      const std::vector<std::string>& dns_names) {
  for (const std::string& name : given) given_.try_emplace(name, certificate);
  if (!given.empty()) return;
  // An address in the common name would be taken for the one at which clients reach us.
  if (!IsAddress(common_name) && CouldBeHost(common_name)) own_.try_emplace(common_name, certificate);
  for (const std::string& name : dns_names) own_.try_emplace(name, certificate);
}

std::optional<size_t> ServerNames::Exactly(const std::string& name) const {
  if (const auto found = given_.find(name); found != given_.end()) return found->second;
  if (const auto found = own_.find(name); found != own_.end()) return found->second;
  return std::nullopt;
}

std::optional<size_t> ServerNames::Find(std::string_view asked) const {
  std::string name = util::Lower(asked);
  while (name.ends_with('.')) name.pop_back();
  if (name.empty()) return std::nullopt;
  if (const auto whole = Exactly(name)) return whole;
  const size_t dot = name.find('.');
  return Exactly(dot == std::string::npos ? "*" : "*" + name.substr(dot));
}

std::optional<size_t> ServerNames::FindAddress(std::string_view address) const {
  return address.empty() ? std::nullopt : Exactly(std::string(address));
}

}  // namespace berth::net
