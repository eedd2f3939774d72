#pragma once

#include <cnc/contract/cost.hpp>
#include <cnc/contract/run.hpp>

#include <string>

namespace cnc::detail {

/// The other processes among which the rows of a system lie, as a solve sees them; src/distributed/ has them over MPI.
/// Every function is called by all ranks in the same order: what a solve decides follows from what is the same on all.
/// Vectors are in the memory of the system's backend and are worked on in the order of its queue; numbers are the host's.
///
/// A system holds the block of a rank's own rows and columns, and its vectors are those rows. What is missing is here:
/// the entries in columns of other ranks, and the rest of each sum.
class OtherRanks {
 public:
  virtual ~OtherRanks() = default;

  /// Every value becomes the sum of those of all ranks, added in their order: the same bits on each, whatever the timing.
  virtual void add_up(double* values, int count) = 0;
  /// Every value becomes the largest of those of all ranks; a NaN is larger than everything.
  virtual void take_largest(double* values, int count) = 0;
  /// What runs need to exchange entries and add up sums without the host; nulls where that takes the host.
  virtual PeersOfRun peers() = 0;
  /// The same for products with A^T, once that is laid out.
  virtual PeersOfRun peers_of_transpose() = 0;
  /// Gets ready for products with A^T, unless it is: fetches the entries that others have in this rank's columns. Collective; where it
  /// throws on one rank it ends on all.
  virtual void lay_out_transpose() = 0;
  /// Whether products leave it to the device to wait for other ranks, as within a run, whose end hears of failures.
  virtual void let_device_wait(bool alone) = 0;
  /// What the first rank says.
  virtual double of_first(double value) = 0;
  /// The text of the first rank that has one.
  virtual std::string first_text(const std::string& mine) = 0;

  /// @{
  /// begin: what others need of x goes on its way. end: y += the entries in columns of others times their x. Transposed: those of
  /// A^T, which is laid out. x stays as it is in between. With a vector `with`, end also takes its dot with what was added to
  /// y, which dot_of_end() tells once the queue has been waited for.
  virtual void begin(const float* x, bool transposed) = 0;
  virtual void begin(const double* x, bool transposed) = 0;
  virtual void end(float* y, bool transposed, const float* with) = 0;
  virtual void end(double* y, bool transposed, const double* with) = 0;
  virtual double dot_of_end() const = 0;
  /// end, not transposed, where y += factor s (the entries times x), s being an entry for each row, or one where it is null:
  /// what a step of a relaxation has of them.
  virtual void end_step(float* y, float factor, const float* of_row) = 0;
  virtual void end_step(double* y, double factor, const double* of_row) = 0;
  /// @}

  /// The number that the caller knows an own row by; of a rank without rows, of the row that 0 would be.
  virtual offset_t number_of(index_t row) const = 0;
  virtual offset_t all_rows() const = 0;  ///< of all ranks
  /// Traffic of a product with the entries in columns of others, beside that of the block.
  virtual Cost halo_cost(int vector_bytes) const = 0;
};

/// The device alone waits for other ranks, for as long as it lives.
class DeviceWaits {
 public:
  explicit DeviceWaits(OtherRanks* ranks) : ranks_(ranks) {
    if (ranks_ != nullptr) ranks_->let_device_wait(true);
  }
  ~DeviceWaits() {
    if (ranks_ != nullptr) ranks_->let_device_wait(false);
  }
  DeviceWaits(const DeviceWaits&) = delete;
  DeviceWaits& operator=(const DeviceWaits&) = delete;

 private:
  OtherRanks* ranks_;  ///< null: there are none
};

}  // namespace cnc::detail
