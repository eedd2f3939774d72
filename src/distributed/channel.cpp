#include "distributed/channel.hpp"

#include "huge_pages.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>
#include <utility>

// What an MPI says of itself while it runs, wherever it declares that, if at all: OpenMPI in a header of its own, with a macro that tells
// of the day it was built alone. Weak, so that an MPI without them will do: they are null then.
extern "C" {
[[gnu::weak]] int MPIX_Query_cuda_support(void);
[[gnu::weak]] int MPIX_Query_rocm_support(void);  // OpenMPI
[[gnu::weak]] int MPIX_Query_hip_support(void);   // MPICH
}

namespace cnc {
namespace detail {
namespace {

/// Looks before the first one where ranks have processors of their own: a tenth of a millisecond of MPI, one or two of
/// DeviceMessages. Who gives a processor away on a busy machine has it back milliseconds later.
constexpr int looks_of_patience = 2048;

constexpr const char* no_exception = "an exception that is no std::exception";

std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

bool is_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}
bool is_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

}  // namespace

void check_mpi(int code, const char* operation) {
  if (code != MPI_SUCCESS) throw MpiError(std::string(operation) + ": " + mpi_text(code));
}

bool mpi_sees_devices() {
  [[maybe_unused]] const auto says_so = [](int (*query)()) {
    return query != nullptr && query() == 1;
  };
#if defined(KOKKOS_ENABLE_IMPL_CUDA_MALLOC_ASYNC)
  return false;  // of memory that Kokkos takes so then, MPI would have to know more
#elif defined(KOKKOS_ENABLE_CUDA)
  return says_so(MPIX_Query_cuda_support);
#elif defined(KOKKOS_ENABLE_HIP)
  return says_so(MPIX_Query_rocm_support) || says_so(MPIX_Query_hip_support);
#else
  return false;
#endif
}

Channel::Channel(MPI_Comm ranks) {
  if (!is_initialized() || is_finalized())
    throw MpiError("Communicator: MPI is not initialised; an MpiScope does that");
  int level = MPI_THREAD_SINGLE, is_main = 0;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  check_mpi(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (level < MPI_THREAD_SERIALIZED && is_main == 0)
    throw MpiError("Communicator: MPI was initialised for calls from the main thread alone");
  for (MPI_Comm* own : {&work_, &failures_}) {
    check_mpi(MPI_Comm_dup(ranks, own), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  check_mpi(MPI_Comm_rank(work_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(work_, &size_), "MPI_Comm_size");
  MPI_Comm machine = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(work_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
            "MPI_Comm_split_type");
  MPI_Comm_size(machine, &ranks_of_machine_);
  MPI_Comm_free(&machine);
  const bool has_processor = ranks_of_machine_ <= sysconf(_SC_NPROCESSORS_ONLN);
  looks_alone_ = has_processor ? looks_of_patience : looks_between;
}

bool Channel::can_free() const { return usable_ && !is_finalized(); }

Channel::~Channel() {
  if (is_finalized()) return;
  if (!usable_) {
    // MPI may still write there.
    new std::vector<unsigned char>(std::move(mine_));
    new std::vector<unsigned char>(std::move(all_));
    return;
  }
  MPI_Comm_free(&failures_);
  MPI_Comm_free(&work_);
}

void Channel::wait(MPI_Request* requests, int count) {
  wait_until([&] {
    int done = 0;
    check_mpi(MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    return done != 0;
  });
}

/// A rank that failed when it had begun fewer operations than this one, or in the middle of one, will not come to the
/// present one, or what it sent by DeviceMessages may not. One that had begun as many and finished them has done its part.
void Channel::listen() {
  take_failure();
  for (const Failure& failure : failed_) {
    const bool in_the_middle = failure.finished < failure.begun;
    if (failure.is_heard != 0 && (failure.begun < begun_ || in_the_middle)) throw InOtherRank();
  }
}

void Channel::hear_failures() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < std::chrono::seconds(1)) {
    take_failure();
    for (const Failure& failure : failed_)
      if (failure.is_heard != 0) throw InOtherRank();
    std::this_thread::yield();
  }
}

void Channel::wait(DeviceMessages& messages) {
  try {
    wait_until([&] { return messages.are_there(); });
  } catch (...) {
    // Before memory is given back: for that a device ends what it does, which others will not come for.
    messages.give_up();
    throw;
  }
}

std::shared_ptr<DeviceMessages> Channel::messages(int device, bool of_hosts) {
  if (of_hosts) device = -1;
  const auto of_device = [&](const MessagesOf& m) { return m.device == device; };
  const auto found = std::find_if(messages_.begin(), messages_.end(), of_device);
  const auto mine = static_cast<index_t>(found - messages_.begin());
  const auto all = static_cast<index_t>(messages_.size());  // the same on all ranks
  const index_t* const places = gather_all(&mine, 1);
  if (mine != all && std::count(places, places + size_, mine) == size_) return found->messages;
  messages_.push_back(
      {device, of_hosts ? DeviceMessages::of_hosts(*this) : DeviceMessages::open(device, *this)});
  return messages_.back().messages;
}

void Channel::do_it_now() {
  for (const std::function<void()>& work : std::exchange(later_, {})) work();
}

void Channel::take_failure() {
  int told = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, tag(), failures_, &told, &status), "MPI_Iprobe");
  if (told != 0) {
    Failure& failure = failed_[static_cast<std::size_t>(status.MPI_SOURCE)];
    check_mpi(MPI_Recv(&failure, int(sizeof failure), MPI_BYTE, status.MPI_SOURCE, tag(), failures_,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    failure.is_heard = 1;
  }
}

void Channel::hold(const void* mine, std::size_t bytes, std::size_t all) {
  if (mine_.size() < bytes) mine_.resize(bytes);
  if (all_.size() < all) all_.resize(all);
  if (bytes > 0) std::memcpy(mine_.data(), mine, bytes);
}

const void* Channel::gather_bytes(const void* mine, std::size_t bytes) {
  hold(mine, bytes, bytes * static_cast<std::size_t>(size_));
  if (size_ == 1) {
    std::copy(mine_.begin(), mine_.begin() + static_cast<std::ptrdiff_t>(bytes), all_.begin());
    return all_.data();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = static_cast<int>(bytes);
  check_mpi(
      MPI_Iallgather(mine_.data(), count, MPI_BYTE, all_.data(), count, MPI_BYTE, work_, &request),
      "MPI_Iallgather");
  wait(&request, 1);
  return all_.data();
}

template <class T>
const T* Channel::gather_all(const T* mine, const std::vector<int>& counts,
                             const std::vector<int>& starts) {
  std::size_t all = 0;
  for (const int count : counts) all += sizeof(T) * static_cast<std::size_t>(count);
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank_)]);
  hold(mine, sizeof(T) * own, all);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Iallgatherv(mine_.data(), static_cast<int>(own), mpi_type<T>(), all_.data(),
                            counts.data(), starts.data(), mpi_type<T>(), work_, &request),
            "MPI_Iallgatherv");
  wait(&request, 1);
  return reinterpret_cast<const T*>(all_.data());
}
template const float* Channel::gather_all(const float*, const std::vector<int>&,
                                          const std::vector<int>&);
template const double* Channel::gather_all(const double*, const std::vector<int>&,
                                           const std::vector<int>&);

const void* Channel::broadcast_bytes(const void* mine, std::size_t bytes, int from) {
  if (mine_.size() < bytes) mine_.resize(bytes);
  if (rank_ == from && bytes > 0) std::memcpy(mine_.data(), mine, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibcast(mine_.data(), static_cast<int>(bytes), MPI_BYTE, from, work_, &request),
            "MPI_Ibcast");
  wait(&request, 1);
  return mine_.data();
}

namespace {

/// Lists that go through one array, by what MPI takes.
template <class T>
struct Lists {
  std::vector<int> counts, starts, counts_back, starts_back;
  std::vector<T> there, back;

  explicit Lists(int ranks)
      : counts(static_cast<std::size_t>(ranks)),
        starts(counts.size()),
        counts_back(counts.size()),
        starts_back(counts.size()) {}

  /// counts_back is known.
  void make_room() {
    offset_t total = 0;
    for (std::size_t r = 0; r < counts_back.size(); ++r) {
      starts_back[r] = static_cast<int>(total);
      total += counts_back[r];
      require(total <= 2147483647, "PartitionedMatrix: more than 2^31 - 1 numbers for one rank");
    }
    back.resize(static_cast<std::size_t>(total));
  }
  std::vector<std::vector<T>> come() const {
    std::vector<std::vector<T>> lists(counts_back.size());
    for (std::size_t r = 0; r < lists.size(); ++r)
      lists[r].assign(back.begin() + starts_back[r],
                      back.begin() + starts_back[r] + counts_back[r]);
    return lists;
  }
};

/// The arrays, after work(arrays), which gives them to MPI and waits. MPI may still use them after a failure: then they stay.
template <class Arrays, class Work>
std::unique_ptr<Arrays> exchanged(std::unique_ptr<Arrays> arrays, const Work& work) {
  try {
    work(*arrays);
  } catch (...) {
    (void)arrays.release();
    throw;
  }
  return arrays;
}

}  // namespace

template <class T>
std::vector<std::vector<T>> Channel::exchange_lists(const std::vector<std::vector<T>>& lists) {
  const auto work = [&](Lists<T>& b) {
    for (std::size_t r = 0; r < lists.size(); ++r) {
      require(b.there.size() + lists[r].size() <= 2147483647u,
              "PartitionedMatrix: more than 2^31 - 1 numbers from one rank");
      b.counts[r] = static_cast<int>(lists[r].size());
      b.starts[r] = static_cast<int>(b.there.size());
      b.there.insert(b.there.end(), lists[r].begin(), lists[r].end());
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ialltoall(b.counts.data(), 1, MPI_INT, b.counts_back.data(), 1, MPI_INT, work_,
                            &request),
              "MPI_Ialltoall");
    wait(&request, 1);
    b.make_room();
    check_mpi(MPI_Ialltoallv(b.there.data(), b.counts.data(), b.starts.data(), mpi_type<T>(),
                             b.back.data(), b.counts_back.data(), b.starts_back.data(),
                             mpi_type<T>(), work_, &request),
              "MPI_Ialltoallv");
    wait(&request, 1);
  };
  return exchanged(std::make_unique<Lists<T>>(size_), work)->come();
}

template <class T>
Vector<T> Channel::share(const Vector<const T>& mine, const std::vector<int>& order) {
  struct Arrays {
    Vector<const T> mine;
    std::vector<int> counts, starts;
    Vector<T> all;
  };
  const auto count = static_cast<offset_t>(mine.extent(0));
  const offset_t* const counts = gather_all(&count, 1);
  auto arrays = std::make_unique<Arrays>();
  arrays->mine = mine;
  arrays->counts.assign(counts, counts + size_);
  arrays->starts.resize(arrays->counts.size());
  offset_t total = 0;
  for (const int r : order) {
    arrays->starts[static_cast<std::size_t>(r)] = static_cast<int>(total);
    total += counts[r];
    require(total <= 2147483647, "PartitionedMatrix: more than 2^31 - 1 numbers for one rank");
  }
  on_each([&] { arrays->all = in_large_pages<T>("cnc::ranks", static_cast<std::size_t>(total)); });
  const auto work = [&](Arrays& a) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgatherv(a.mine.data(), static_cast<int>(count), mpi_type<T>(), a.all.data(),
                              a.counts.data(), a.starts.data(), mpi_type<T>(), work_, &request),
              "MPI_Iallgatherv");
    wait(&request, 1);
  };
  return exchanged(std::move(arrays), work)->all;
}

template std::vector<std::vector<float>> Channel::exchange_lists(
    const std::vector<std::vector<float>>&);
template std::vector<std::vector<double>> Channel::exchange_lists(
    const std::vector<std::vector<double>>&);
template std::vector<std::vector<index_t>> Channel::exchange_lists(
    const std::vector<std::vector<index_t>>&);
template std::vector<std::vector<offset_t>> Channel::exchange_lists(
    const std::vector<std::vector<offset_t>>&);
template Vector<float> Channel::share(const Vector<const float>&, const std::vector<int>&);
template Vector<double> Channel::share(const Vector<const double>&, const std::vector<int>&);
template Vector<index_t> Channel::share(const Vector<const index_t>&, const std::vector<int>&);

void Channel::together(const std::function<void()>& work) {
  if (inside_) return work();
  if (!usable_)
    throw RankError("Communicator: a failure before has left the ranks at different operations");
  inside_ = true;
  ++calls_;
  failed_.assign(static_cast<std::size_t>(size_), {});
  std::exception_ptr mine;
  std::string text;
  try {
    work();
    const char done = 1;  // nobody leaves while another can still fail
    (void)gather_all(&done, 1);
    inside_ = false;
    return;
  } catch (const InOtherRank&) {
  } catch (const std::exception& error) {
    mine = std::current_exception();
    text = error.what();
  } catch (...) {
    mine = std::current_exception();
    text = no_exception;
  }
  inside_ = false;
  settle(mine, text);
}

void Channel::on_each(const std::function<void()>& work) {
  std::exception_ptr mine;
  Text text = {};
  try {
    work();
  } catch (const InOtherRank&) {
    throw;
  } catch (const std::exception& error) {
    mine = std::current_exception();
    text = Text(error.what());
  } catch (...) {
    mine = std::current_exception();
    text = Text(no_exception);
  }
  const char failed = mine != nullptr;
  const char* const all = gather_all(&failed, 1);
  const int first = static_cast<int>(std::find(all, all + size_, char(1)) - all);
  if (first == size_) return;
  const Text said = gather_all(&text, 1)[first];
  if (mine) std::rethrow_exception(mine);
  throw RankError("rank " + std::to_string(first) + ": " + said.characters);
}

void Channel::settle(std::exception_ptr mine, const std::string& text) {
  Failure& own = failed_[static_cast<std::size_t>(rank_)];
  own = {begun_, finished_, mine != nullptr, 0, Text(text)};
  // Every rank is in the same call, and comes here.
  std::vector<MPI_Request> requests;
  for (int r = 0; r < size_; ++r) {
    if (r == rank_) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(&own, int(sizeof own), MPI_BYTE, r, tag(), failures_, &requests.back()),
              "MPI_Isend");
    Failure& other = failed_[static_cast<std::size_t>(r)];
    if (other.is_heard != 0) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Irecv(&other, int(sizeof other), MPI_BYTE, r, tag(), failures_, &requests.back()),
              "MPI_Irecv");
  }
  for (int done = 0; done == 0;) {
    check_mpi(
        MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    if (done == 0) std::this_thread::yield();
  }
  usable_ = std::all_of(failed_.begin(), failed_.end(), [&](const Failure& f) {
    return f.begun == f.finished && f.begun == own.begun;
  });
  begun_ = finished_;
  if (!usable_)
    for (const MessagesOf& m : messages_)
      if (m.messages) m.messages->give_up();
  if (mine) std::rethrow_exception(mine);
  const auto first =
      std::find_if(failed_.begin(), failed_.end(), [](const Failure& f) { return f.is_own != 0; });
  throw RankError("rank " + std::to_string(first - failed_.begin()) + ": " +
                  first->text.characters);
}

}  // namespace detail

MpiScope::MpiScope() {
  if (detail::is_finalized())
    throw MpiError("MpiScope: MPI has been finalised and cannot be initialised again");
  if (detail::is_initialized()) return;
  int level = MPI_THREAD_SINGLE;
  detail::check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level),
                    "MPI_Init_thread");
  owns_mpi_ = true;
}
MpiScope::~MpiScope() {
  if (owns_mpi_ && !detail::is_finalized()) MPI_Finalize();
}

bool started_by_mpi() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

Communicator::Communicator(MPI_Comm ranks) : channel_(std::make_shared<detail::Channel>(ranks)) {}
int Communicator::rank() const { return channel_->rank(); }
int Communicator::size() const { return channel_->size(); }
int Communicator::ranks_of_machine() const { return channel_->ranks_of_machine(); }
void Communicator::together(const std::function<void()>& work) const { channel_->together(work); }
void Communicator::wait_for_all() const { (void)channel_->anywhere(false); }
void Communicator::limit_link(RankLink best) const { channel_->limit_link(best); }

}  // namespace cnc
