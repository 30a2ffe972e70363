#include "lab/load/answer_reader.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"

namespace tare::load {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";
constexpr std::string_view protocol = "HTTP/1.";
constexpr std::size_t most_kept_bytes = 64 * 1024;  ///< of memory, for the next answer

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

/// `word` is in lower case.
bool is_word(std::string_view text, std::string_view word) {
  return text.size() == word.size() &&
         std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) { return lower(a) == b; });
}

/// Whether a list such as "keep-alive, Upgrade" has this word, which is in lower case.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (is_word(text::trim(list.substr(0, comma)), word)) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// The text before the first line end, which is taken away with it.
std::string_view take_line(std::string_view& lines) {
  const std::size_t end = std::min(lines.find(line_end), lines.size());
  const std::string_view line = lines.substr(0, end);
  lines.remove_prefix(std::min(end + line_end.size(), lines.size()));
  return line;
}

}  // namespace

std::size_t AnswerReader::feed(std::string_view bytes) {
  if (state_ == State::done) restart();
  std::size_t used = 0;
  while (state_ == State::more && used < bytes.size()) used += step(bytes.substr(used));
  return used;
}

void AnswerReader::feed_end() {
  if (state_ != State::more) return;
  if (part_ == Part::endless_body) return finish(collected_);
  fail(part_ == Part::head && held_.empty() ? "the connection ended without an answer"
                                            : "the connection ended in the middle of the answer");
}

void AnswerReader::restart() {
  state_ = State::more;
  part_ = Part::head;
  status_ = 0;
  chunked_ = has_length_ = false;
  left_ = trailer_ = 0;
  held_.clear();
  collected_.clear();
  if (collected_.capacity() > most_kept_bytes) collected_ = {};
  body_ = {};
}

std::size_t AnswerReader::step(std::string_view bytes) {
  switch (part_) {
    case Part::head:
      return read_head(bytes);
    case Part::sized_body:
      return read_sized(bytes);
    case Part::endless_body:
      return read_endless(bytes);
    case Part::chunk_size:
      return read_chunk_size(bytes);
    case Part::chunk:
      return read_chunk(bytes);
    case Part::chunk_end:
      return read_chunk_end(bytes);
    case Part::trailer:
      return read_trailer(bytes);
  }
  return bytes.size();
}

AnswerReader::Piece AnswerReader::piece_until(std::string_view mark, std::string_view bytes) {
  if (held_.empty()) {
    if (const std::size_t at = bytes.find(mark); at != std::string_view::npos)
      return {bytes.substr(0, at), at + mark.size(), true};
    held_ = bytes;
    return {held_, bytes.size(), false};
  }
  const std::size_t had = held_.size();
  held_.append(bytes);
  const std::size_t at = held_.find(mark, had - std::min(had, mark.size() - 1));
  if (at == std::string::npos) return {held_, bytes.size(), false};
  return {std::string_view(held_).substr(0, at), at + mark.size() - had, true};
}

std::size_t AnswerReader::read_head(std::string_view bytes) {
  const Piece head = piece_until(head_end, bytes);
  if (!head.text.starts_with(protocol.substr(0, head.text.size()))) {
    fail("the answer is not HTTP/1.x");
  } else if (head.text.size() > most_head_bytes) {
    fail("the headers are too long");
  } else if (head.whole && parse_head(head.text)) {
    begin_body();
  }
  if (head.whole) held_.clear();
  return head.used;
}

bool AnswerReader::parse_head(std::string_view head) {
  if (!parse_status_line(take_line(head))) return fail("bad status line");
  while (!head.empty()) {
    if (!parse_header(take_line(head))) return false;
  }
  return true;
}

bool AnswerReader::parse_status_line(std::string_view line) {
  // "HTTP/1.1 200" and, after a space, words that mean nothing
  constexpr std::size_t shortest = 12;
  if (line.size() < shortest || (line[7] != '0' && line[7] != '1') || line[8] != ' ') return false;
  if (line.size() > shortest && line[shortest] != ' ') return false;
  const char* const end = line.data() + shortest;
  const auto [stop, error] = std::from_chars(line.data() + 9, end, status_);
  keep_alive_ = line[7] == '1';
  return error == std::errc() && stop == end && status_ >= 100;
}

bool AnswerReader::parse_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos || line[0] == ' ' || line[0] == '\t' ||
      line[colon - 1] == ' ' || line[colon - 1] == '\t')
    return fail("bad header");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = line.substr(colon + 1);
  if (is_word(name, "content-length")) return parse_length(text::trim(value));
  if (is_word(name, "connection")) {
    if (has_word(value, "close")) {
      keep_alive_ = false;
    } else if (has_word(value, "keep-alive")) {
      keep_alive_ = true;
    }
  } else if (is_word(name, "transfer-encoding")) {
    if (chunked_ || !is_word(text::trim(value), "chunked")) return fail("unknown transfer encoding");
    chunked_ = true;
  }
  return true;
}

bool AnswerReader::parse_length(std::string_view value) {
  std::size_t length = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, length);
  if (error == std::errc::result_out_of_range) return fail("the body is too long");
  if (error != std::errc() || stop != end || (has_length_ && length != left_))
    return fail("bad Content-Length");
  has_length_ = true;
  left_ = length;
  return true;
}

void AnswerReader::begin_body() {
  if (status_ == 101) {
    fail("the server changes to another protocol");
  } else if (status_ < 200) {
    restart();  // the answer itself is still to come
  } else if (status_ == 204 || status_ == 304 || (!chunked_ && has_length_ && left_ == 0)) {
    finish({});
  } else if (chunked_) {
    // With both, somebody may take the length for the truth: the connection is not used any more.
    keep_alive_ = keep_alive_ && !has_length_;
    part_ = Part::chunk_size;
  } else if (!has_length_) {
    keep_alive_ = false;
    part_ = Part::endless_body;
  } else if (left_ > most_body_bytes_) {
    fail("the body is too long");
  } else {
    part_ = Part::sized_body;
  }
}

std::size_t AnswerReader::read_sized(std::string_view bytes) {
  const std::string_view taken = bytes.substr(0, left_);
  left_ -= taken.size();
  if (left_ == 0 && collected_.empty()) {
    finish(taken);
  } else {
    collected_.append(taken);
    if (left_ == 0) finish(collected_);
  }
  return taken.size();
}

std::size_t AnswerReader::read_endless(std::string_view bytes) {
  if (bytes.size() > most_body_bytes_ - collected_.size()) {
    fail("the body is too long");
  } else {
    collected_.append(bytes);
  }
  return bytes.size();
}

std::size_t AnswerReader::read_chunk_size(std::string_view bytes) {
  const Piece line = piece_until(line_end, bytes);
  if (line.text.size() > most_head_bytes) {
    fail("bad chunk");
  } else if (line.whole) {
    const std::string_view digits = text::trim(line.text.substr(0, line.text.find(';')));
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, left_, 16);
    if (error == std::errc::invalid_argument || stop != end) {
      fail("bad chunk");
    } else if (error != std::errc() || left_ > most_body_bytes_ - collected_.size()) {
      fail("the body is too long");
    }
    part_ = left_ == 0 ? Part::trailer : Part::chunk;
    held_.clear();
  }
  return line.used;
}

std::size_t AnswerReader::read_chunk(std::string_view bytes) {
  const std::string_view taken = bytes.substr(0, left_);
  collected_.append(taken);
  left_ -= taken.size();
  if (left_ == 0) part_ = Part::chunk_end;
  return taken.size();
}

std::size_t AnswerReader::read_chunk_end(std::string_view bytes) {
  const Piece nothing = piece_until(line_end, bytes);
  if (nothing.whole && nothing.text.empty()) {
    part_ = Part::chunk_size;
    held_.clear();
  } else if (nothing.whole || nothing.text != "\r") {
    fail("bad chunk");
  }
  return nothing.used;
}

std::size_t AnswerReader::read_trailer(std::string_view bytes) {
  const Piece line = piece_until(line_end, bytes);
  if (trailer_ + line.text.size() > most_head_bytes) {
    fail("the headers are too long");
  } else if (line.whole) {
    trailer_ += line.text.size() + line_end.size();
    if (line.text.empty()) finish(collected_);
    held_.clear();
  }
  return line.used;
}

void AnswerReader::finish(std::string_view body) {
  state_ = State::done;
  body_ = body;
}

bool AnswerReader::fail(std::string_view why) {
  state_ = State::failed;
  error_ = why;
  return false;
}

}  // namespace tare::load
