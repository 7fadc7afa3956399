// SPDX-License-Identifier: Apache-2.0
// Short ways for the tests of this folder to decode one object.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "api/decode.h"
#include "api/load.h"
#include "api/yaml.h"

namespace berth {

// The JSON of one YAML document.
inline std::string Json(std::string_view yaml) {
  std::string out;
  const Error error = ForEachYamlDocument(yaml, [&](std::string json) {
    out = std::move(json);
    return Error::Ok();
  });
  EXPECT_TRUE(error.ok()) << error.text();
  return out;
}

// `path: message` of every error.
inline std::vector<std::string> Texts(const std::vector<LoadError>& errors) {
  std::vector<std::string> texts;
  for (const LoadError& error : errors) texts.push_back(error.path + ": " + error.message);
  return texts;
}

// The one object of kind T in `yaml`, decoded without errors.
template <class T>
T Decode(std::string_view yaml, DecodeMode mode = DecodeMode::kFile) {
  DecodedObject decoded = DecodeObject(Json(yaml), mode);
  for (const std::string& text : Texts(decoded.errors)) ADD_FAILURE() << text;
  T* object = std::get_if<T>(&decoded.object);
  EXPECT_NE(object, nullptr) << decoded.kind;
  return object ? std::move(*object) : T();
}

inline std::vector<std::string> ErrorsOf(std::string_view yaml, DecodeMode mode = DecodeMode::kFile) {
  return Texts(DecodeObject(Json(yaml), mode).errors);
}

// A pod with one container and `spec` in flow or block style at two spaces.
inline std::string PodYaml(const std::string& spec) {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {app: web}}\nspec:\n" + spec +
         (spec.find("containers:") == std::string::npos ? "\n  containers: [{name: c, image: i}]\n" : "\n");
}

inline ResourceList Amounts(std::vector<std::pair<std::string, std::string>> amounts) {
  ResourceList list;
  for (const auto& [name, text] : amounts) list.emplace_back(InternResource(name), Quantity::Parse(text).value());
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

}  // namespace berth
