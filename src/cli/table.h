// SPDX-License-Identifier: Apache-2.0
// Table: columns of text, aligned, for terminals.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace berth::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  size_t rows() const { return rows_.size() - 1; }
  // Every line starts with `indent`. The last column is not padded.
  std::string Text(const std::string& indent = "") const {
    std::vector<size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      text += indent;
      for (size_t i = 0; i < row.size(); ++i) {
        text += row[i];
        if (i + 1 < row.size()) text.append(widths[i] - row[i].size() + 2, ' ');
      }
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace berth::cli
