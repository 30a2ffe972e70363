#include "lab/report/document.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "lab/report/consistency.hpp"

namespace tare::report {
namespace {

/// A run document of another version, another document of this program, or something else.
Error other_schema(std::string_view source, std::string_view name) {
  if (name.starts_with("tare.") && !name.starts_with("tare.run.")) {
    return Error(ErrorCode::input, fmt::format("{} is not a run document", source),
                 fmt::format("its schema is '{}'", name), "name a document that a run wrote");
  }
  return Error(ErrorCode::input, fmt::format("{} has schema '{}'", source, name),
               fmt::format("this version reads '{}'", schema_name),
               name.starts_with("tare.run.v") ? "use the version of tare that wrote it" : "");
}

}  // namespace

const Row* find_row(const Document& document, std::string_view row, std::string_view target) {
  const auto found = std::find_if(document.rows.begin(), document.rows.end(),
                                  [&](const Row& r) { return r.row == row && r.target == target; });
  return found == document.rows.end() ? nullptr : &*found;
}

std::string to_json(const Document& document) {
  return json::pretty(document);
}

Document from_json(std::string_view text, std::string_view source) {
  const json::Value value = json::parse(text, source);
  const json::Object* object = value.if_object();
  const json::Value* schema = object != nullptr ? object->if_contains("schema") : nullptr;
  if (schema == nullptr || !schema->is_string()) {
    throw Error(ErrorCode::input, fmt::format("{} is not a run document", source), "it has no \"schema\"");
  }
  const std::string_view name = schema->get_string();
  if (name != schema_name) throw other_schema(source, name);
  auto document = json::read<Document>(value, source);
  check_consistent(document, source);
  return document;
}

Document load(const std::filesystem::path& path) {
  return from_json(file::read(path), path.string());
}

void save(const Document& document, const std::filesystem::path& path) {
  file::write_atomically(path, to_json(document));
}

}  // namespace tare::report
