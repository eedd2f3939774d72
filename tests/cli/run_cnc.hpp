#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace cnc::test {

/// How a run of the program ended.
struct Run {
  int code = -1;  ///< exit code; 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

/// A directory of its own for one test case, removed at the end.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  /// Writes a file and gives its path.
  std::string file(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;
  bool has(const std::string& name) const;
  /// Names of everything in it: a failed write must leave no temporary file behind.
  std::vector<std::string> names() const;

 private:
  std::filesystem::path directory_;
};

/// Runs the program to its end, in the C locale, without a terminal.
Run run_cnc(const std::vector<std::string>& arguments);
/// The same for the program at this path.
Run run_program(const std::string& program, const std::vector<std::string>& arguments);

/// Starts the program with standard output going to `out`; gives its process id.
int start_cnc(const std::vector<std::string>& arguments, const std::string& out,
              const std::string& err);
int start_program(const std::string& program, const std::vector<std::string>& arguments,
                  const std::string& out, const std::string& err);
/// Waits for its end; the exit code, or 128 + signal.
int wait_for(int process);

bool contains(const std::string& text, const std::string& part);
int lines_in(const std::string& text);
std::string slurp(const std::string& path);

}  // namespace cnc::test
