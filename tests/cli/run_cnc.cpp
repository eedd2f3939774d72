#include "run_cnc.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cnc::test {

namespace fs = std::filesystem;

Workplace::Workplace() {
  std::string name = (fs::temp_directory_path() / "cnc_cli_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  directory_ = name;
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string Workplace::file(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string Workplace::read(const std::string& name) const { return slurp(path(name)); }

bool Workplace::has(const std::string& name) const { return fs::exists(directory_ / name); }

std::vector<std::string> Workplace::names() const {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_))
    found.push_back(entry.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

int start_program(const std::string& program, const std::vector<std::string>& arguments,
                  const std::string& out, const std::string& err) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
    setenv("LC_ALL", "C", 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  return process;
}

int start_cnc(const std::vector<std::string>& arguments, const std::string& out,
              const std::string& err) {
  return start_program(CNC_CLI_PATH, arguments, out, err);
}

int wait_for(int process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) throw std::runtime_error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Run run_program(const std::string& program, const std::vector<std::string>& arguments) {
  const Workplace streams;
  Run run;
  run.code = wait_for(start_program(program, arguments, streams.path("out"), streams.path("err")));
  run.out = streams.read("out");
  run.err = streams.read("err");
  return run;
}

Run run_cnc(const std::vector<std::string>& arguments) {
  return run_program(CNC_CLI_PATH, arguments);
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int lines_in(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace cnc::test
