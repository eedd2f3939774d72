#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace cnc {

/// Base of everything that the library throws. Numerical outcomes are not errors: they are values of
/// SolveReport::status.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller passed something that the call does not accept (extents, block size, option value).
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The chosen backend does not offer the operation for this format and precision.
class UnsupportedOperation : public Error {
 public:
  using Error::Error;
};

/// A file could not be read or written. The text names file, line (if one is to blame) and reason.
class IoError : public Error {
 public:
  /// line 0: the file as a whole.
  IoError(const std::string& file, std::size_t line, const std::string& reason)
      : Error(line == 0 ? file + ": " + reason : file + ":" + std::to_string(line) + ": " + reason),
        file_(file),
        line_(line) {}

  const std::string& file() const noexcept { return file_; }  ///< as given by the caller
  std::size_t line() const noexcept { return line_; }  ///< 1-based; 0 when no line is to blame

 private:
  std::string file_;
  std::size_t line_;
};

/// Memory ran out: bytes asked for, and bytes free where the system tells (else 0).
class OutOfMemory : public Error {
 public:
  /// `what` did not fit.
  OutOfMemory(const std::string& what, std::size_t bytes_asked, std::size_t bytes_free)
      : Error(what + ": " + std::to_string(bytes_asked) + " bytes asked, " +
              std::to_string(bytes_free) + " bytes free"),
        bytes_asked_(bytes_asked),
        bytes_free_(bytes_free) {}

  std::size_t bytes_asked() const noexcept { return bytes_asked_; }  ///< of this one allocation
  std::size_t bytes_free() const noexcept { return bytes_free_; }    ///< 0 where nobody tells

 private:
  std::size_t bytes_asked_;
  std::size_t bytes_free_;
};

/// A device call failed: operation, backend and the vendor's code are in the text.
class DeviceError : public Error {
 public:
  using Error::Error;
  /// `reason` is what the vendor's library says.
  DeviceError(const std::string& operation, const std::string& backend, const std::string& reason)
      : Error(operation + " on " + backend + ": " + reason) {}
};

namespace detail {
[[noreturn]] inline void throw_invalid(const std::string& text) { throw InvalidArgument(text); }
}  // namespace detail

/// @{
/// The check at the public door: throws InvalidArgument with `text` unless `condition` holds. The text
/// is built from literals on the good path; pass a callable when it needs formatting.
inline void require(bool condition, const char* text) {
  if (!condition) detail::throw_invalid(text);
}
template <class MakeText>
requires requires(const MakeText& make) { std::string(make()); }
void require(bool condition, const MakeText& make_text) {
  if (!condition) detail::throw_invalid(make_text());
}
/// @}

}  // namespace cnc
