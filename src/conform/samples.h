// SPDX-License-Identifier: Apache-2.0
// The pod and the nodes that an extender is asked about: made up, or read from files.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.h"

namespace berth::conform {

// A node as kube-scheduler sends it: without kind and apiVersion, with managedFields.
struct SampleNode {
  std::string name;
  std::string json;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Samples {
  std::string pod;  // JSON, without kind, apiVersion and managedFields
  std::vector<SampleNode> nodes;
};

// As large as nodes of a real cluster are, about 8 kB. `labels` are on two nodes of three, so that a filter that looks
// at them has something to pass and something to fail. Equal arguments give equal text.
SampleNode MakeNode(size_t index, const Labels& labels);
std::string MakePod();

// The first pod, and all nodes, of files in YAML or JSON; lists are taken apart. An empty path: made up. The Error
// names the file.
Result<std::string> ReadPod(const std::string& path);
Result<std::vector<SampleNode>> ReadNodes(const std::string& path);

// `object` with fields that no version of the API has. REQUIRES, as below: a JSON object.
std::string WithUnknownFields(const std::string& object);
// With the nulls that Go does write: the time of a condition that nobody set, as in every pod that was tried or bound
// before, and the names of an image that lost its tag.
std::string PodWithUnsetTime(const std::string& pod);
std::string NodeWithNamelessImage(const std::string& node);
// With null for fields that Go leaves out when there is nothing in them, and writers in other languages may not.
std::string PodWithNulls(const std::string& pod);
std::string NodeWithNulls(const std::string& node);

}  // namespace berth::conform
