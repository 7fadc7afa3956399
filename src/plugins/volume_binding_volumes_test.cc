// SPDX-License-Identifier: Apache-2.0
// VolumeTable against a plain model: every volume held against every node, as upstream does it.
#include "plugins/volume_binding_volumes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "plugins/common/volumes.h"
#include "plugins/volume_binding_test_util.h"

namespace berth::plugins {
namespace {

using volumes::Claim;
using volumes::Gi;
using volumes::Volume;

struct Model {
  std::map<Row, Labels> nodes;
  std::map<std::string, std::shared_ptr<const PersistentVolume>> all;

  const PersistentVolume* Smallest(const PersistentVolumeClaim& claim, Row row,
                                   const std::vector<std::string>& taken) const {
    const PersistentVolume* best = nullptr;
    const auto node = nodes.find(row);
    if (node == nodes.end()) return nullptr;
    for (const auto& [name, volume] : all) {
      const PersistentVolume& v = *volume;
      if (std::find(taken.begin(), taken.end(), name) != taken.end() || v.claim_ref || v.phase != "Available") continue;
      if (v.meta.deletion_time || v.storage_class != *claim.storage_class || v.capacity < *claim.request) continue;
      if (v.node_affinity && !MatchesLabels(*v.node_affinity, node->second)) continue;
      if (claim.selector && !claim.selector->Matches(v.meta.labels)) continue;
      const auto offers = [&](const std::string& mode) {
        return std::find(v.access_modes.begin(), v.access_modes.end(), mode) != v.access_modes.end();
      };
      if (!std::all_of(claim.access_modes.begin(), claim.access_modes.end(), offers)) continue;
      if (best == nullptr || v.capacity < best->capacity) best = &v;
    }
    return best;
  }
};

Labels RandomLabels(std::mt19937& random, Row row) {
  std::vector<Labels::Entry> entries{{"kubernetes.io/hostname", "h" + std::to_string(row)},
                                     {"zone", "z" + std::to_string(random() % 3)}};
  if (random() % 2 == 0) entries.emplace_back("disk", random() % 2 == 0 ? "ssd" : "hdd");
  return Labels(std::move(entries));
}

std::optional<NodeSelector> RandomAffinity(std::mt19937& random) {
  const auto term = [&] {
    NodeSelectorTerm out;
    switch (random() % 5) {
      case 0:
        out.match_expressions.push_back(
            Require("kubernetes.io/hostname", SelectorOp::kIn, {"h" + std::to_string(random() % 8)}));
        break;
      case 1:
        out.match_expressions.push_back(
            Require("zone", SelectorOp::kIn, {"z0", "z" + std::to_string(1 + random() % 2)}));
        break;
      case 2:
        out.match_expressions.push_back(Require("disk", SelectorOp::kExists));
        break;
      case 3:
        out.match_expressions.push_back(Require("zone", SelectorOp::kNotIn, {"z1"}));
        out.match_expressions.push_back(Require("disk", SelectorOp::kIn, {"ssd"}));
        break;
      default:
        break;  // empty: matches nothing
    }
    return out;
  };
  if (random() % 6 == 0) return std::nullopt;
  NodeSelector selector;
  for (size_t i = 0; i <= random() % 2; ++i) selector.terms.Edit().push_back(term());
  return selector;
}

TEST(VolumeTableTest, FindsWhatAPlainSearchFinds) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    Model model;
    VolumeTable table;
    std::vector<PersistentVolumeClaim> claims;
    for (int i = 0; i < 4; ++i) {
      PersistentVolumeClaim claim = Claim("c" + std::to_string(i), i % 2 == 0 ? "local" : "other", 1 + i);
      if (i == 2) claim.selector = SelectLabels({{"tier", "fast"}});
      if (i == 3) claim.access_modes = {"ReadOnlyMany", "ReadWriteOnce"};
      claims.push_back(claim);
    }
    std::vector<std::shared_ptr<const RowsWithVolume>> rows;
    for (int step = 0; step < 300; ++step) {
      const Row row = random() % 8;
      const std::string name = "v" + std::to_string(random() % 12);
      switch (random() % 6) {
        case 0: {
          const Labels labels = RandomLabels(random, row);
          model.nodes[row] = labels;
          table.PutNode(row, "h" + std::to_string(row), labels);
          break;
        }
        case 1:
          if (model.nodes.erase(row) > 0) table.RemoveNode(row);
          break;
        case 2:
          table.RemoveVolume(name);
          model.all.erase(name);
          break;
        default: {
          auto volume = std::make_shared<PersistentVolume>(Volume(name, 1 + random() % 6));
          volume->storage_class = random() % 2 == 0 ? "local" : "other";
          volume->node_affinity = RandomAffinity(random);
          if (random() % 4 == 0) volume->claim_ref = {"default", "c0", ""};
          if (random() % 5 == 0) volume->phase = "Released";
          if (random() % 2 == 0) volume->meta.labels = Labels({{"tier", "fast"}});
          if (random() % 3 == 0) volume->access_modes.push_back("ReadOnlyMany");
          table.PutVolume(*volume);
          model.all[name] = volume;  // what was there before goes only now
          break;
        }
      }
      if (step == 20 || step == 150) {
        rows.clear();
        for (const PersistentVolumeClaim& claim : claims) rows.push_back(table.RowsWith(ClaimNeeds(claim)));
      }
      for (size_t c = 0; c < claims.size(); ++c) {
        const ClaimNeeds needs(claims[c]);
        for (Row r = 0; r < 8; ++r) {
          if (!model.nodes.contains(r)) continue;
          const PersistentVolume* const want = model.Smallest(claims[c], r, {});
          const PersistentVolume* const got = table.Smallest(needs, r);
          ASSERT_EQ(want ? want->meta.name : "", got ? got->meta.name : "") << seed << " " << step;
          if (!rows.empty()) {
            ASSERT_EQ((*rows[c])[r], want != nullptr) << seed << " " << step << " claim " << c << " row " << r;
          }
          if (want == nullptr) continue;
          const std::vector<std::string> taken{want->meta.name};
          const PersistentVolume* const next = model.Smallest(claims[c], r, taken);
          const PersistentVolume* const other = table.Smallest(needs, r, taken);
          ASSERT_EQ(next ? next->meta.name : "", other ? other->meta.name : "") << seed << " " << step;
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::plugins
