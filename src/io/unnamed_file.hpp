#pragma once

#include <string>

namespace cnc::detail {

/// A new file that does not have its name yet. It has no name at all where the system can do that,
/// so a program that is ended leaves nothing behind; elsewhere it is called
/// "NAME.cnc-XXXXXXXX.tmp".
class UnnamedFile {
 public:
  /// `target`: where the file will go. A target that exists passes its permissions on.
  /// Errors   IoError.
  explicit UnnamedFile(const std::string& target);
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;
  /// Removes the file unless it was published.
  ~UnnamedFile();

  int descriptor() const { return descriptor_; }

  /// Flushes to disk and takes the place of the target, whether that exists or not.
  /// Errors   IoError; the target is then untouched.
  void publish();

 private:
  void open_without_name(const std::string& directory);
  void open_with_name();
  void give_name();
  void check(bool good, const char* what) const;

  std::string target_;
  std::string name_;  // empty while the file has none
  int descriptor_ = -1;
};

}  // namespace cnc::detail
