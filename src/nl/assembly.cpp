#include "nl/assembly.hpp"

namespace cnc::nl {

void Assembly::reset() {
  pattern_.reset();
  constructed_ = false;
}

void Assembly::begin(index_t n, bool rows_are_appended) {
  SystemOptions options;
  options.rows = RowKind::equations;
  options.equations = rows_are_appended ? 0 : n;
  if (!builder_ || builder_->variables() != n || builder_->options().equations != options.equations)
    builder_.emplace(n, options);
  builder_->begin();
}

void Assembly::append_row(const std::vector<Coefficient>& row) {
  SystemChunk<double>& chunk = builder_->chunk();
  chunk.begin_row();
  for (const auto& [unknown, value] : row) chunk.coefficient(unknown, value);
  chunk.end_row();
}

void Assembly::add_row(index_t i, const std::vector<Coefficient>& row) {
  SystemChunk<double>& chunk = builder_->chunk();
  for (const auto& [unknown, value] : row) chunk.add(i, unknown, value);
}

void Assembly::add(index_t i, index_t j, double value) { builder_->chunk().add(i, j, value); }

void Assembly::end() {
  if (pattern_) pattern_->for_each([&](index_t i, index_t j, double value) { add(i, j, value); });
  builder_->finish();
  refreshed_ = value_version_ > 0 && builder_->was_refreshed();
  if (!refreshed_) ++pattern_version_;
  ++value_version_;
  matrix_ = builder_->matrix();
  constructed_ = true;
}

}  // namespace cnc::nl
