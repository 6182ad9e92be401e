#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace verso {

/// What a parsed command does; gives the exit code (0, unless the command defines more) and throws
/// verso::Error for everything that goes wrong.
using CommandRun = std::function<int()>;

/// A command is one file, <name>_command.cpp, with one function: it declares the command's options
/// on `command` and sets `run`. Options live in an object that `run` owns (a shared_ptr captured by
/// the lambda). Nothing is read, opened or loaded before `run` is called.
void setup_train(CLI::App& command, CommandRun& run);
void setup_translate(CLI::App& command, CommandRun& run);
void setup_align(CLI::App& command, CommandRun& run);
void setup_symmetrize(CLI::App& command, CommandRun& run);
void setup_gradients(CLI::App& command, CommandRun& run);
void setup_score(CLI::App& command, CommandRun& run);
void setup_evaluate(CLI::App& command, CommandRun& run);
void setup_report(CLI::App& command, CommandRun& run);
void setup_inspect(CLI::App& command, CommandRun& run);
void setup_config(CLI::App& command, CommandRun& run);
void setup_doctor(CLI::App& command, CommandRun& run);

}  // namespace verso
