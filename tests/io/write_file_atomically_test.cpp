#include "io_support.hpp"
#include "support/catch.hpp"

#include <csignal>
#include <ostream>

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
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    write_file_atomically(path, [](std::ostream& out) {
      out << "half" << std::flush;
      std::raise(SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
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
