#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace cnc::cli {

/// A CLI11 check: "" for a finite number >= 0, else what is wrong.
std::string not_negative(const std::string& text);

/// A CLI11 check: "" for a text that is not empty, as a variable of a script that was never set is.
std::string not_empty(const std::string& text);

/// "csr, bcsr:B, ..." for help texts, from the table of formats.
std::string known_formats();

/// A CLI11 check: "" for a list with something in it.
std::string not_empty_list(const std::string& text);

/// --partition, of subcommands that work on several processes.
CLI::Option* add_partition_option(CLI::App& command, std::string& partition);
/// --link, likewise.
CLI::Option* add_link_option(CLI::App& command, std::string& link);

/// Splits "a,b,c" and drops what is empty or there already.
std::vector<std::string> split_list(const std::string& text);

}  // namespace cnc::cli
