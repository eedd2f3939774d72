#include "io_support.hpp"
#include "support/catch.hpp"

#include <csignal>
#include <ostream>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

using namespace cnc;
using namespace cnc::test;

namespace {

mode_t permissions(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

void put(const std::string& path, const std::string& text) {
  write_file_atomically(path, [&](std::ostream& out) { out << text; });
}

/// How a process of its own, which ran the body and exits with what it returns, ended.
template <class Body>
int status_of_child(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("a file appears with its whole text and nothing beside it") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  put(path, "first");
  CHECK(read_text(path) == "first");
  put(path, "second, longer");
  CHECK(read_text(path) == "second, longer");
  const std::string large(3000000, 'x');
  put(path, large);
  CHECK(read_text(path) == large);
  put(path, "");
  CHECK(read_text(path).empty());
  CHECK(directory.files() == 1);
}

TEST_CASE("a failure leaves the old file and nothing else") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  put(path, "old");
  const auto half_written = [](std::ostream& out) {
    out << "half" << std::flush;
    throw std::runtime_error("stop");
  };
  CHECK_THROWS_AS(write_file_atomically(path, half_written), std::runtime_error);
  CHECK(read_text(path) == "old");
  const auto failed_stream = [](std::ostream& out) { out.setstate(std::ios::failbit); };
  CHECK(message_of([&] { write_file_atomically(path, failed_stream); }) ==
        path + ": cannot write: the output stream failed");
  CHECK(read_text(path) == "old");
  CHECK_THROWS_AS(write_file_atomically(directory.file("new.txt"), half_written),
                  std::runtime_error);
  CHECK(directory.files() == 1);
}

TEST_CASE("a program that is killed while writing leaves the old file alone") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  put(path, "old");
  const int status = status_of_child([&] {
    write_file_atomically(path, [](std::ostream& out) {
      out << "half" << std::flush;
      std::raise(SIGKILL);
    });
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(read_text(path) == "old");
  for (const auto& entry : std::filesystem::directory_iterator(directory.file(""))) {
    const std::string name = entry.path().filename().string();
    CHECK((name == "a.txt" || name.find(".cnc-") != std::string::npos));
  }
}

TEST_CASE("what cannot be written is an error with the system's reason") {
  const TemporaryDirectory directory;
  const std::string absent = directory.file("absent/a.txt");
  CHECK(message_of([&] { put(absent, "x"); }) ==
        absent + ": cannot create: No such file or directory");
  CHECK(message_of([&] { put(directory.file(""), "x"); }) ==
        directory.file("") + ": cannot write: it is a directory");
  if (std::filesystem::exists("/dev/full")) {
    CHECK(message_of([] { put("/dev/full", "x"); }) ==
          "/dev/full: cannot write: No space left on device");
    CHECK(message_of([] {
            write_matrix_market("/dev/full", random_matrix<double>(300, 300, 1));
          }) == "/dev/full: cannot write: No space left on device");
    CHECK(std::filesystem::is_character_file("/dev/full"));
  }
  if (::geteuid() != 0) {
    const std::string locked = directory.file("locked");
    std::filesystem::create_directory(locked);
    std::filesystem::permissions(locked, std::filesystem::perms::owner_read);
    CHECK(message_of([&] { put(locked + "/a", "x"); }).find("cannot create: Permission denied") !=
          std::string::npos);
    std::filesystem::permissions(locked, std::filesystem::perms::owner_all);
  }
}

TEST_CASE("permissions and links are kept") {
  const TemporaryDirectory directory;
  const mode_t mask = ::umask(027);
  const std::string path = directory.file("a.txt");
  put(path, "x");
  ::umask(mask);
  CHECK(permissions(path) == 0640);
  REQUIRE(::chmod(path.c_str(), 0604) == 0);
  put(path, "y");
  CHECK(permissions(path) == 0604);

  const std::string link = directory.file("link");
  std::filesystem::create_symlink("a.txt", link);
  put(link, "z");
  CHECK(std::filesystem::is_symlink(link));
  CHECK(read_text(path) == "z");
  CHECK(directory.files() == 2);
}

TEST_CASE("a dangling link stays a link and the file that it names is made") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("results"));
  const std::string first = directory.file("first");
  std::filesystem::create_symlink("results/second", first);
  std::filesystem::create_symlink("x.txt", directory.file("results/second"));
  for (const std::string text : {"new", "newer"}) {
    put(first, text);
    CHECK(std::filesystem::is_symlink(first));
    CHECK(std::filesystem::is_symlink(directory.file("results/second")));
    CHECK(std::filesystem::is_regular_file(directory.file("results/x.txt")));
    CHECK(read_text(directory.file("results/x.txt")) == text);
  }
  std::filesystem::create_symlink(directory.file("b"), directory.file("a"));
  std::filesystem::create_symlink(directory.file("a"), directory.file("b"));
  CHECK(message_of([&] { put(directory.file("a"), "x"); }).find("links in a circle") !=
        std::string::npos);
  std::filesystem::create_symlink("nowhere/c.txt", directory.file("c"));
  CHECK(message_of([&] { put(directory.file("c"), "x"); }) ==
        directory.file("nowhere/c.txt") + ": cannot create: No such file or directory");
}

TEST_CASE("where the disk is full the old file stays and nothing is left behind") {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.txt");
  put(path, "old");
  const int status = status_of_child([&] {
    // A limit on the size of files stands for the end of a disk.
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string large(3000000, 'x');
    const auto refused = [&](const std::string& name) {
      return message_of([&] { put(name, large); }) == name + ": cannot write: File too large";
    };
    return refused(path) && refused(directory.file("new.txt")) ? 0 : 1;
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(read_text(path) == "old");
  CHECK(directory.files() == 1);
}
