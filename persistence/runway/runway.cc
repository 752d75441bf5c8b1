#include "runway.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocksdb/env.h"
#include "rocksdb/file_system.h"
#include "rocksdb/options.h"

// In runway.go: where what is torn begins in a log, or -1 if nothing is.
extern "C" int64_t mq9LogEnd(char* path);

namespace {

using namespace rocksdb;

constexpr uint64_t kSmall = 4 << 10;     // bytes between two syncs up to which a runway pays
constexpr uint64_t kRunway = 256 << 10;  // bytes by which a log is kept ahead
constexpr int kFew = 16;                 // syncs of little, one after the other, that make a runway likely to be used

// RunwayFile is a log that is being written. As the file that it wraps, it is not for several threads at a time.
class RunwayFile : public FSWritableFileOwnerWrapper {
 public:
  RunwayFile(std::unique_ptr<FSWritableFile>&& file, int fd)
      : FSWritableFileOwnerWrapper(std::move(file)), fd_(fd) {}
  ~RunwayFile() override { ::close(fd_); }

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* dbg) override {
    return Appended(data, target()->Append(data, options, dbg));
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const DataVerificationInfo& verification,
                  IODebugContext* dbg) override {
    return Appended(data, target()->Append(data, options, verification, dbg));
  }

  IOStatus Sync(const IOOptions& options, IODebugContext* dbg) override {
    if (unsynced_ > kSmall) small_ = 0;
    if (unsynced_ > 0 && unsynced_ <= kSmall && ++small_ >= kFew && ahead_ < end_ + kSmall) Extend();
    unsynced_ = 0;
    return target()->Sync(options, dbg);
  }

  // A log that is complete ends where it ends.
  IOStatus Close(const IOOptions& options, IODebugContext* dbg) override {
    if (ahead_ > end_ && ::ftruncate(fd_, static_cast<off_t>(end_)) != 0) {
      // The zeros stay, and are skipped.
    }
    return target()->Close(options, dbg);
  }

 private:
  IOStatus Appended(const Slice& data, IOStatus status) {
    if (status.ok()) {
      end_ += data.size();
      unsynced_ += data.size();
    }
    return status;
  }

  // Extend writes the zeros. If the disk takes fewer, the log grows as it goes.
  void Extend() {
    static const std::vector<char> zeros(kRunway);
    ssize_t n = ::pwrite(fd_, zeros.data(), zeros.size(), static_cast<off_t>(end_));
    if (n > 0) ahead_ = end_ + static_cast<uint64_t>(n);
  }

  const int fd_;           // the same file, owned
  uint64_t end_ = 0;       // of what was appended
  uint64_t ahead_ = 0;     // of the zeros
  uint64_t unsynced_ = 0;  // bytes appended since the last sync
  int small_ = 0;          // syncs of little since the last of much
};

// MendedFile is a log that is being read, with zeros for what is torn.
class MendedFile : public FSSequentialFileOwnerWrapper {
 public:
  MendedFile(std::unique_ptr<FSSequentialFile>&& file, uint64_t end)
      : FSSequentialFileOwnerWrapper(std::move(file)), end_(end) {}

  IOStatus Read(size_t n, const IOOptions& options, Slice* result, char* scratch, IODebugContext* dbg) override {
    IOStatus status = target()->Read(n, options, result, scratch, dbg);
    if (!status.ok()) return status;
    uint64_t whole = end_ > at_ ? std::min<uint64_t>(end_ - at_, result->size()) : 0;
    if (whole < result->size()) {
      if (result->data() != scratch) std::memcpy(scratch, result->data(), result->size());
      std::memset(scratch + whole, 0, result->size() - whole);
      *result = Slice(scratch, result->size());
    }
    at_ += result->size();
    return status;
  }

  IOStatus Skip(uint64_t n) override {
    IOStatus status = target()->Skip(n);
    if (status.ok()) at_ += n;
    return status;
  }

 private:
  const uint64_t end_;
  uint64_t at_ = 0;  // where the next byte is read
};

bool IsLog(const std::string& name) {
  static const std::string suffix = ".log";
  return name.size() > suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

class RunwayFileSystem : public FileSystemWrapper {
 public:
  explicit RunwayFileSystem(bool ahead) : FileSystemWrapper(FileSystem::Default()), ahead_(ahead) {}

  static const char* kClassName() { return "mq9 runway"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& name, const FileOptions& options, std::unique_ptr<FSWritableFile>* result,
                           IODebugContext* dbg) override {
    IOStatus status = target()->NewWritableFile(name, options, result, dbg);
    if (!status.ok() || !ahead_ || !IsLog(name)) return status;
    int fd = ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd >= 0) result->reset(new RunwayFile(std::move(*result), fd));  // or it grows as it goes
    return status;
  }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions& options, std::unique_ptr<FSSequentialFile>* result,
                             IODebugContext* dbg) override {
    IOStatus status = target()->NewSequentialFile(name, options, result, dbg);
    if (!status.ok() || !IsLog(name)) return status;
    int64_t end = mq9LogEnd(const_cast<char*>(name.c_str()));
    if (end >= 0) result->reset(new MendedFile(std::move(*result), static_cast<uint64_t>(end)));
    return status;
  }

 private:
  const bool ahead_;
};

}  // namespace

void mq9_set_runway(rocksdb_options_t* options, int ahead) {
  // A database does not own its Env, so these live as long as the process. The C interface has no way to make one; its options begin with those of C++.
  static Env* const envs[] = {NewCompositeEnv(std::make_shared<RunwayFileSystem>(false)).release(),
                              NewCompositeEnv(std::make_shared<RunwayFileSystem>(true)).release()};
  reinterpret_cast<rocksdb::Options*>(options)->env = envs[ahead ? 1 : 0];
}
