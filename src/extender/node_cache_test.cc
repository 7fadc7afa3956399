// SPDX-License-Identifier: Apache-2.0
// Nodes found again by their bytes, and requests read with and without a cache.
#include "extender/node_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "berth/testing.h"
#include "extender/extender_args.h"

namespace berth::extender {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Node> NamedNode(const std::string& name) {
  Node node;
  node.meta.name = name;
  return std::make_shared<const Node>(std::move(node));
}

// Longer than a prefix, so that it is kept.
std::string NodeText(const std::string& name, const std::string& version, const std::string& more = "") {
  return R"({"metadata":{"name":")" + name + R"(","uid":"5d9e1f3a-77aa-4c1b-8f00-000000000001","labels":{"pad":")" +
         std::string(NodeCache::kPrefix, 'x') + R"("},"resourceVersion":")" + version + "\"}" + more + "}";
}

std::string RequestOf(const std::vector<std::string>& nodes) {
  std::string body = R"({"Pod":{"metadata":{"name":"p"}},"Nodes":{"metadata":{},"items":[)";
  for (size_t i = 0; i < nodes.size(); ++i) body += (i > 0 ? "," : "") + nodes[i];
  return body + R"(]},"NodeNames":null})";
}

TEST(NodeCacheTest, ATextIsFoundByItsBytesWhateverFollows) {
  NodeCache cache;
  const std::string text = NodeText("a", "1");
  cache.Add(text, NamedNode("a"), 7);
  const NodeCache::Found found = cache.Find(text + ",{}]");
  ASSERT_TRUE(found.node);
  EXPECT_EQ(found.node->name(), "a");
  EXPECT_EQ(found.size, text.size());
  EXPECT_EQ(found.items, 7u);
  EXPECT_FALSE(cache.Find(text.substr(0, text.size() - 1)).node);
  EXPECT_FALSE(cache.Find("").node);
}

TEST(NodeCacheTest, OneOtherByteIsAnotherNode) {
  NodeCache cache;
  const std::string text = NodeText("a", "1");
  cache.Add(text, NamedNode("a"), 0);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    EXPECT_FALSE(cache.Find(other).node) << i;
  }
}

TEST(NodeCacheTest, ANewVersionTakesThePlaceOfTheOld) {
  NodeCache cache;
  cache.Add(NodeText("a", "1"), NamedNode("a"), 0);
  cache.Add(NodeText("a", "2"), NamedNode("a"), 0);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_FALSE(cache.Find(NodeText("a", "1")).node);
  EXPECT_TRUE(cache.Find(NodeText("a", "2")).node);
}

TEST(NodeCacheTest, WhatRequestsNoLongerHaveGoes) {
  NodeCache cache;
  for (int i = 0; i < 5000; ++i) cache.Add(NodeText("old-" + std::to_string(i), "1"), NamedNode("old"), 0);
  cache.Settle(5000);
  EXPECT_EQ(cache.size(), 5000u);
  const std::string kept = NodeText("old-7", "1");
  EXPECT_TRUE(cache.Find(kept).node);
  cache.Settle(1);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(cache.Find(kept).node);
}

TEST(NodeCacheTest, MemoryHasALimit) {
  NodeCache cache(true, 1 << 20);
  const std::string filler(10'000, ' ');
  for (int i = 0; i < 200; ++i) cache.Add(NodeText("n-" + std::to_string(i), "1", filler), NamedNode("n"), 0);
  EXPECT_LT(cache.size(), (1 << 20) / 10'000u);
  EXPECT_GT(cache.size(), 80u);
}

TEST(NodeCacheTest, MemoryIsCountedAsNodesTakeItNotAsTheirTextDoes) {
  std::string taints = "{}";
  for (int i = 1; i < 30; ++i) taints += ",{}";
  NodeCache cache(true, 1 << 20);
  std::vector<std::string> nodes;
  for (int i = 0; i < 2000; ++i) {
    nodes.push_back(NodeText("n-" + std::to_string(i), "1", R"(,"spec":{"taints":[)" + taints + "]}"));
  }
  ASSERT_LT(nodes[0].size() * nodes.size(), 1u << 20);  // by their text all would fit
  std::string body = RequestOf(nodes);
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body, &cache);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_FALSE(args->nodes_cached);
  EXPECT_LT(cache.size() * 30 * sizeof(Taint), 1u << 20);
  EXPECT_GT(cache.size(), 100u);
}

TEST(NodeCacheTest, ATextThatAsksForFarMoreMemoryIsNotKept) {
  std::string taints = "{}";
  for (int i = 0; i < 5000; ++i) taints += ",{}";
  NodeCache cache;
  std::string body = RequestOf({NodeText("a", "1", R"(,"spec":{"taints":[)" + taints + "]}"), NodeText("b", "1")});
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body, &cache);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_EQ((*args->nodes)[0].node->taints.size(), 5001u);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_FALSE(args->nodes_cached);
  std::string good = RequestOf({NodeText("b", "1"), NodeText("c", "1")});
  EXPECT_TRUE(DecodeExtenderArgs(good, &cache)->nodes_cached);
}

TEST(NodeCacheTest, ThreadsMayShareIt) {
  NodeCache cache;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        std::string body = RequestOf(
            {NodeText("a", "1"), NodeText("b", std::to_string(round)), NodeText("c", std::to_string(round % 3))});
        const Result<ExtenderArgs> args = DecodeExtenderArgs(body, &cache);
        ASSERT_TRUE(args.ok()) << args.error().text();
        ASSERT_EQ(args->nodes->size(), 3u);
        EXPECT_EQ((*args->nodes)[1].node->name(), "b");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(NodeCacheTest, ARequestIsTheSameWithACacheAndFromIt) {
  NodeCache cache;
  const std::string first = NodeText("a", "1", R"(,"spec":{"unschedulable":true})"), second = NodeText("b", "1");
  for (int round = 0; round < 3; ++round) {
    std::string body = RequestOf({first, " " + second + "\n", NodeText("c", std::to_string(round))});
    const Result<ExtenderArgs> args = DecodeExtenderArgs(body, &cache);
    ASSERT_TRUE(args.ok()) << args.error().text();
    EXPECT_EQ(args->pod->name(), "p");
    EXPECT_FALSE(args->node_names);
    ASSERT_EQ(args->nodes->size(), 3u);
    EXPECT_EQ((*args->nodes)[0].json, first);
    EXPECT_TRUE((*args->nodes)[0].node->unschedulable);
    EXPECT_EQ((*args->nodes)[1].json, second);
    EXPECT_EQ((*args->nodes)[2].node->name(), "c");
    EXPECT_EQ(cache.size(), 3u);
  }
}

TEST(NodeCacheTest, UnchangedNodesAreTheSameObjects) {
  NodeCache cache;
  std::string body = RequestOf({NodeText("a", "1"), NodeText("b", "1")});
  std::string again = RequestOf({NodeText("b", "2"), NodeText("a", "1")});
  const Result<ExtenderArgs> one = DecodeExtenderArgs(body, &cache), two = DecodeExtenderArgs(again, &cache);
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ((*one->nodes)[0].node, (*two->nodes)[1].node);
  EXPECT_NE((*one->nodes)[1].node, (*two->nodes)[0].node);
}

TEST(NodeCacheTest, ErrorsAreThoseWithoutACache) {
  NodeCache cache;
  std::string good = RequestOf({NodeText("a", "1")});
  ASSERT_TRUE(DecodeExtenderArgs(good, &cache).ok());
  for (const char* tail : {"", "}", "]}", "]},", "]}}x", "]},\"Pod\":7}", ",3]}}", ",{\"spec\":{\"taints\":7}}]}}",
                           ",{\"a\":01}]}}", ",{\"a\":\"\xff\"}]}}", "]},\"Nodes\":7}"}) {
    std::string body = R"({"Nodes":{"items":[)" + NodeText("a", "1") + tail;
    std::string copy = body;
    const Result<ExtenderArgs> plain = DecodeExtenderArgs(copy), cached = DecodeExtenderArgs(body, &cache);
    ASSERT_FALSE(plain.ok()) << tail;
    ASSERT_FALSE(cached.ok()) << tail;
    EXPECT_EQ(plain.error().text(), cached.error().text());
  }
}

TEST(NodeCacheTest, ImagesThatNobodyReadsAreNotEvenLookedAt) {
  const std::string text = NodeText("a", "1", R"(,"status":{"images":[{"names":["x"],"sizeBytes":5}]})");
  NodeCache with(true), without(false);
  std::string body = RequestOf({text}), copy = body;
  EXPECT_EQ((*DecodeExtenderArgs(body, &with)->nodes)[0].node->images.size(), 1u);
  EXPECT_EQ((*DecodeExtenderArgs(copy, &without)->nodes)[0].node->images.size(), 0u);
}

}  // namespace
}  // namespace berth::extender
