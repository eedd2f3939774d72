#pragma once

namespace cnc::cli {

/// Turns what ends a program from outside into errors that it can report: a reader who leaves, a file
/// that may grow no further, standard streams that are closed (the next file opened would otherwise
/// take their number and what is printed).
void secure_streams();

/// Flushes standard output; says whether everything written has arrived.
bool output_arrived();

/// Whether standard output is a pipe that nobody reads any more: `cnc ... | head -1`.
bool reader_left();

/// Ends the program as a reader who leaves ends others: silently, by SIGPIPE.
[[noreturn]] void end_without_reader();

}  // namespace cnc::cli
