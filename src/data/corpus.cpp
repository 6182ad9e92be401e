#include "data/corpus.h"

#include <algorithm>
#include <iomanip>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

std::string hex_byte(char byte) {
  std::ostringstream out;
  out << "0x" << std::hex << std::uppercase << std::setw(2) << std::setfill('0')
      << static_cast<int>(static_cast<unsigned char>(byte));
  return out.str();
}

}  // namespace

bool check_utf8(std::string& line, const std::string& path, std::int64_t number, InvalidUtf8 rule) {
  const auto offset = find_invalid_utf8(line);
  if (!offset) return true;
  if (rule == InvalidUtf8::kSkip) return false;
  if (rule == InvalidUtf8::kReplace) {
    line = replace_invalid_utf8(line);
    return true;
  }
  throw DataError(
      cat(path, ":", number, ": byte ", *offset + 1, " (", hex_byte(line[*offset]),
          ") is not valid UTF-8; convert the file to UTF-8, or set data.invalid_utf8 to "
          "\"replace\" or \"skip\" (commands that read text: --invalid-utf8 replace)"));
}

struct PairReader::Impl {
  std::unique_ptr<LineReader> source, target;  // target: none for a TSV
  std::unique_ptr<LineReader> links;           // none without links
  std::int32_t links_index = 0;
  std::string line, links_line;

  bool next_of_tsv(std::string& source_line, std::string& target_line) {
    if (!source->next(line)) return false;
    const auto tabs = std::count(line.begin(), line.end(), '\t');
    if (tabs != 1) {
      throw DataError(cat(source->path(), ":", source->line_number(), ": ", tabs,
                          " tabs, expected 1 (source TAB target)"));
    }
    const std::size_t tab = line.find('\t');
    source_line.assign(line, 0, tab);
    target_line.assign(line, tab + 1);
    return true;
  }

  bool next_of_files(std::string& source_line, std::string& target_line) {
    const bool has_source = source->next(source_line);
    const bool has_target = target->next(target_line);
    if (has_source == has_target) return has_source;
    LineReader& longer = has_source ? *source : *target;
    const std::int64_t first_alone = longer.line_number();
    while (longer.next(line)) {
    }
    throw DataError(cat(source->path(), " has ", source->line_number(), " lines, ", target->path(),
                        " has ", target->line_number(), ", expected as many; line ", first_alone,
                        " of ", longer.path(), " is the first without a partner"));
  }

  bool next_pair(std::string& source_line, std::string& target_line) {
    return target ? next_of_files(source_line, target_line) : next_of_tsv(source_line, target_line);
  }

  // Called when links or pairs end before the other; reads both to their ends for the message.
  [[noreturn]] void fail_links() {
    std::string first, second;
    while (next_pair(first, second)) {
    }
    while (links->next(first)) {
    }
    throw DataError(cat(links->path(), " has ", links->line_number(), " lines, but ",
                        source->path(), target ? " and " + target->path() + " have " : " has ",
                        source->line_number(),
                        " pairs; expected a line of links for each (a blank one for none)"));
  }
};

std::string files_of(const CorpusConfig& corpus) {
  return corpus.tsv.empty() ? cat(corpus.source, " and ", corpus.target) : corpus.tsv;
}

PairReader::PairReader(const CorpusConfig& corpus) : impl_(std::make_unique<Impl>()) {
  const bool has_tsv = !corpus.tsv.empty();
  if (has_tsv != (corpus.source.empty() && corpus.target.empty()) ||
      corpus.source.empty() != corpus.target.empty()) {
    throw DataError(cat("a corpus is either source and target, or tsv; found source \"",
                        corpus.source, "\", target \"", corpus.target, "\", tsv \"", corpus.tsv,
                        "\""));
  }
  if (corpus.source == "-" && corpus.target == "-") {
    throw DataError("source and target cannot both be standard input; pass a TSV instead");
  }
  impl_->source = std::make_unique<LineReader>(has_tsv ? corpus.tsv : corpus.source);
  if (!has_tsv) impl_->target = std::make_unique<LineReader>(corpus.target);
  if (!corpus.links.empty()) impl_->links = std::make_unique<LineReader>(corpus.links);
  impl_->links_index = static_cast<std::int32_t>(corpus.links_index);
}

PairReader::~PairReader() = default;

bool PairReader::next(std::string& source, std::string& target) {
  const bool more = impl_->next_pair(source, target);
  if (impl_->links && impl_->links->next(impl_->links_line) != more) impl_->fail_links();
  return more;
}

std::vector<Link> PairReader::links(std::string_view source, std::string_view target) const {
  if (!impl_->links) return {};
  const std::int32_t first = impl_->links_index;
  const std::string place = cat(impl_->links->path(), ":", impl_->links->line_number());
  std::vector<Link> links = parse_links(impl_->links_line, place, first);
  if (links.empty()) return links;
  check_links(links, std::ssize(split_tokens(source)), std::ssize(split_tokens(target)), place,
              first);
  return links;
}

std::int64_t PairReader::line_number() const { return impl_->source->line_number(); }

std::string PairReader::source_place() const {
  return cat(impl_->source->path(), ":", line_number());
}

std::string PairReader::target_place() const {
  return cat((impl_->target ? impl_->target : impl_->source)->path(), ":", line_number());
}

bool PairReader::check_utf8(std::string& source, std::string& target, InvalidUtf8 rule) const {
  const LineReader& target_reader = impl_->target ? *impl_->target : *impl_->source;
  // Both sides, so that an error on the target is found whatever the source holds.
  const bool source_good = verso::check_utf8(source, impl_->source->path(), line_number(), rule);
  const bool target_good = verso::check_utf8(target, target_reader.path(), line_number(), rule);
  return source_good && target_good;
}

ParallelText read_parallel_text(const CorpusConfig& corpus, InvalidUtf8 rule) {
  PairReader reader(corpus);
  ParallelText text;
  std::string source, target;
  while (reader.next(source, target)) {
    if (!reader.check_utf8(source, target, rule)) continue;
    text.source.push_back(source);
    text.target.push_back(target);
    if (!corpus.links.empty()) text.links.push_back(reader.links(source, target));
  }
  if (reader.line_number() == 0) {
    throw DataError(cat(files_of(corpus), " hold no line, expected pairs"));
  }
  return text;
}

}  // namespace verso
