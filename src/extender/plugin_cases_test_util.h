// SPDX-License-Identifier: Apache-2.0
// One table of cases for plugins in all hosts: nodes, pods to place and pods that run, as JSON as a request has it; and
// what a plugin said about them, in a form that can be compared.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <variant>

#include "api/decode.h"
#include "extender/extender_reply.h"
#include "framework/judge.h"

namespace berth::extender {

inline constexpr const char* kCaseNodes[] = {
    R"({"metadata":{"name":"plain","labels":{"zone":"a","kubernetes.io/hostname":"plain"}},"spec":{},
        "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})",
    R"({"metadata":{"name":"small","labels":{"zone":"b","disk":"ssd","kubernetes.io/hostname":"small"}},
        "status":{"allocatable":{"cpu":"1","memory":"1Gi","pods":"110"},
        "images":[{"names":["registry.example/app:1"],"sizeBytes":800000000}]}})",
    R"({"metadata":{"name":"tainted","labels":{"zone":"a","disk":"hdd"}},
        "spec":{"taints":[{"key":"team","value":"x","effect":"NoSchedule"}]},
        "status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"110"}}})",
    R"({"metadata":{"name":"soft","labels":{"zone":"b","disk":"ssd"}},
        "spec":{"taints":[{"key":"old","effect":"PreferNoSchedule"}]},
        "status":{"allocatable":{"cpu":"8","memory":"32Gi","pods":"110","acme.example/gpu":"2"}}})",
    R"({"metadata":{"name":"cordoned"},"spec":{"unschedulable":true},
        "status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})",
};

struct PluginCase {
  const char* name;
  const char* pod;
};
inline constexpr PluginCase kCases[] = {
    {"a pod that asks for nothing",
     R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{}]}})"},
    {"cpu and memory", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"cpu":"2","memory":"2Gi"}}}]}})"},
    {"an extended resource", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "resources":{"requests":{"acme.example/gpu":"1"},"limits":{"acme.example/gpu":"1"}}}]}})"},
    {"a node selector", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"nodeSelector":{"disk":"ssd"},
        "containers":[{"name":"c"}]}})"},
    {"tolerations", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"tolerations":[{"key":"team",
        "operator":"Exists"},{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}],
        "containers":[{"name":"c"}]}})"},
    {"a node by name", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"nodeName":"soft",
        "containers":[{"name":"c"}]}})"},
    {"preferred affinity", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"affinity":{"nodeAffinity":{
        "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":7,"preference":{"matchExpressions":[
        {"key":"zone","operator":"In","values":["b"]}]}}]}},"containers":[{"name":"c"}]}})"},
    {"one node by field", R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"affinity":{"nodeAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":
        "metadata.name","operator":"In","values":["small"]}]}]}}},"containers":[{"name":"c"}]}})"},
    {"an image and a host port",
     R"({"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c",
        "image":"registry.example/app:1","ports":[{"containerPort":80,"hostPort":80}]}]}})"},
    {"anti-affinity and spread", R"({"metadata":{"name":"p","namespace":"d","uid":"u","labels":{"app":"web"}},"spec":{
        "affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{
        "matchLabels":{"app":"web"}},"topologyKey":"kubernetes.io/hostname"}]}},"topologySpreadConstraints":[{
        "maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{
        "app":"web"}}}],"containers":[{"name":"c"}]}})"},
};

// Pods that run already, for the shapes that see them.
inline constexpr const char* kRunningPods[] = {
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"d","uid":"w1","labels":{"app":"web"}},
        "spec":{"nodeName":"plain","containers":[{"name":"c","ports":[{"containerPort":80,"hostPort":80}],
        "resources":{"requests":{"cpu":"3"}}}]}})",
};

inline constexpr PointSet kCarried =
    Bit(Point::kPreFilter) | Bit(Point::kFilter) | Bit(Point::kPreScore) | Bit(Point::kScore) | Bit(Point::kBind);

template <class T>
T Take(AnyObject object);
template <>
inline Node Take<Node>(AnyObject object) {
  return std::get<Node>(std::move(object));
}
template <>
inline Pod Take<Pod>(AnyObject object) {
  return std::get<DecodedPod>(std::move(object)).pod;
}
template <class T>
T Decoded(const std::string& json) {
  DecodedObject decoded = DecodeObject(json, DecodeMode::kPeer);
  for (const LoadError& error : decoded.errors) ADD_FAILURE() << error.Text();
  return Take<T>(std::move(decoded.object));
}
// With the type that objects in requests leave out.
inline std::string Typed(const char* kind, std::string json) {
  return json.insert(1, std::string(R"("apiVersion":"v1","kind":")") + kind + "\",");
}

// What was said: node to `fits` or the reasons, or one sentence for the pod as a whole.
using Answers = std::map<std::string, std::string>;

inline Answers Native(const framework::Judgement& judgement, const Snapshot& snapshot, const VerdictTable& table) {
  if (judgement.kind == framework::Judgement::Kind::kFailed) return {{"", judgement.message}};
  if (judgement.outright) return {{"", judgement.outright->verdict.message()}};
  Answers answers;
  for (const Row row : snapshot.order()) {
    const VerdictId id = judgement.verdicts[row];
    const Verdict& verdict = id == kNotJudged ? judgement.absent : table.Get(id);
    const bool unresolvable = verdict.code() == Code::kUnschedulableAndUnresolvable;
    answers[snapshot.node(row).name()] = verdict.fits() ? "fits" : (unresolvable ? "!" : "") + verdict.message();
  }
  return answers;
}

inline Answers Served(const ExtenderArgs& args, const FilterResult& result) {
  if (!result.error.empty()) return {{"", result.error}};
  Answers answers;
  for (const size_t place : result.passed) answers[args.node_name(place)] = "fits";
  for (const FilterResult::Failed& failed : result.failed) {
    answers[args.node_name(failed.place)] = (failed.unresolvable ? "!" : "") + result.texts[failed.text];
  }
  return answers;
}

}  // namespace berth::extender
