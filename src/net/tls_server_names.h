// SPDX-License-Identifier: Apache-2.0
// ServerNames: which of several certificates is shown to a client that asks for a name.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::net {

// Names that are given go before names of certificates, whatever their order; among equals the first counts. A name is
// looked for as a whole first, then with an asterisk for its first label.
class ServerNames {
 public:
  // `given` names, or without any those of the certificate: its common name, if a host could have it, and its others.
  void Add(size_t certificate, const std::vector<std::string>& given, const std::string& common_name,
           const std::vector<std::string>& dns_names);
  std::optional<size_t> Find(std::string_view asked) const;
  // The same for a client that asked for nothing, and reached us at this address: only if it is a name itself.
  std::optional<size_t> FindAddress(std::string_view address) const;

 private:
  std::optional<size_t> Exactly(const std::string& name) const;
  std::map<std::string, size_t, std::less<>> given_, own_;
};

}  // namespace berth::net
