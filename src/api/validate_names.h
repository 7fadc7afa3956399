// SPDX-License-Identifier: Apache-2.0
// The forms of names, label keys and label values that the API server accepts. Each check returns what is wrong, one
// sentence per rule broken, in the API server's words; nothing when the text is fine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth {

using Complaints = std::vector<std::string>;

Complaints CheckDnsLabel(std::string_view text);       // RFC 1123 label, 63 bytes
Complaints CheckDnsSubdomain(std::string_view text);   // RFC 1123 subdomain, 253 bytes
Complaints CheckPathSegment(std::string_view text);    // what every name must be: part of a URL
Complaints CheckQualifiedName(std::string_view text);  // label keys, gates, resource names: [prefix/]name
Complaints CheckLabelValue(std::string_view text);
Complaints CheckPortName(std::string_view text);
// Feature names of nodes: segments of letters and digits, the first one starting with a capital, separated by '/'.
Complaints CheckDeclaredFeature(std::string_view text);

// The complaints as one sentence.
std::string Join(const Complaints& complaints, std::string_view separator);

}  // namespace berth
