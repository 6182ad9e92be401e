#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace verso {

/// Names of values, in the order of help.
template <class Value>
using Choices = std::vector<std::pair<std::string, Value>>;

/// Adds an option that takes one of named values and sets `value`, which holds the default.
/// Anything else on the command line is CLI::ValidationError, with all names.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& value,
                        const Choices<Value>& choices, const std::string& description) {
  std::string names, usual;
  for (const auto& [choice, its_value] : choices) {
    names += (names.empty() ? "" : "|") + choice;
    if (its_value == value) usual = choice;
  }
  const auto set = [&value, choices, names, name](const std::string& text) {
    const auto found = std::find_if(choices.begin(), choices.end(),
                                    [&text](const auto& choice) { return choice.first == text; });
    if (found == choices.end()) {
      throw CLI::ValidationError(name,
                                 cat("\"", replace_invalid_utf8(text), "\" is none of ", names));
    }
    value = found->second;
  };
  return command.add_option_function<std::string>(name, set, description)
      ->type_name(names)
      ->default_str(usual);
}

}  // namespace verso
