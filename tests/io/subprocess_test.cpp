// SPDX-License-Identifier: BSD-3-Clause
#include "io/files/subprocess.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tare/base/error.h"

namespace tare {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds kPlenty{60'000};

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

bool has_children() {
  int status = 0;
  return ::waitpid(-1, &status, WNOHANG) != -1 || errno != ECHILD;
}

std::string error_of(const std::string& command, milliseconds timeout,
                     std::string_view input = "") {
  try {
    run_filter(command, input, timeout);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    return error.what();
  }
  return "no error";
}

TEST(RunFilter, ReturnsWhatTheProgramWrites) {
  EXPECT_EQ(run_filter("tr a-z A-Z", "hello\n", kPlenty), "HELLO\n");
  EXPECT_EQ(run_filter("cat", "", kPlenty), "");
  EXPECT_EQ(run_filter("printf '\\000\\377'", "", kPlenty), std::string("\0\xff", 2));
}

TEST(RunFilter, MegabytesInBothDirectionsDoNotWaitForEachOther) {
  std::string input;
  for (int i = 0; i < 400'000; ++i) input += std::to_string(i) + ",0.5\n";
  EXPECT_EQ(run_filter("cat", input, kPlenty), input);
}

TEST(RunFilter, AProgramThatAnswersBeforeItReadsIsFine) {
  const std::string input(4 << 20, 'x');
  const std::string output =
      run_filter("head -c 4194304 /dev/zero; cat >/dev/null", input, kPlenty);
  EXPECT_EQ(output.size(), std::size_t{4} << 20);
}

TEST(RunFilter, AProgramThatStopsReadingIsNoErrorAndNoSignal) {
  const std::string input(4 << 20, 'x');
  EXPECT_EQ(run_filter("exec <&-; echo done", input, kPlenty), "done\n");
  EXPECT_EQ(run_filter("head -c 1", input, kPlenty), "x");
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0) << "left behind for the caller";
}

TEST(RunFilter, AProgramThatClosesItsOutputStillGetsAllItsInput) {
  const std::string path = testing::TempDir() + "tare_filter_" + std::to_string(::getpid());
  const std::string input(1 << 20, 'x');
  EXPECT_EQ(run_filter("exec >&-; cat > '" + path + "'", input, kPlenty), "");
  std::ifstream copy(path, std::ios::ate | std::ios::binary);
  EXPECT_EQ(static_cast<std::size_t>(copy.tellg()), input.size());
  std::remove(path.c_str());
}

TEST(RunFilter, TheSignalMaskOfTheCallerIsTheChildsAndStaysTheCallers) {
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_EQ(sigismember(&before, SIGPIPE), 0);
  // `yes` ends only if SIGPIPE reaches it.
  EXPECT_EQ(run_filter("yes | head -n 1", "", kPlenty), "y\n");
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&after, SIGPIPE), 0);
}

TEST(RunFilter, AnotherStatusThanZeroIsNamed) {
  EXPECT_EQ(error_of("exit 3", kPlenty), "the predictor 'exit 3' exited with status 3");
  EXPECT_EQ(error_of("cat; exit 3", kPlenty, "1\n"),
            "the predictor 'cat; exit 3' exited with status 3");
  EXPECT_THAT(error_of("/no/such/program", kPlenty), HasSubstr("status 127"));
}

TEST(RunFilter, ASignalIsNamed) {
  EXPECT_EQ(error_of("kill -9 $$", kPlenty), "the predictor 'kill -9 $$' was killed by signal 9");
}

TEST(RunFilter, ASlowProgramIsKilledWithAllItStarted) {
  const std::string path = testing::TempDir() + "tare_late_" + std::to_string(::getpid());
  const std::string command = "(sleep 1; echo late > '" + path + "') & sleep 30; cat";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(command, milliseconds{250}),
              HasSubstr("gave no answer within 0.25 s (raise timeout, or mend the program)"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{20});
  std::this_thread::sleep_for(milliseconds{1500});
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "the grandchild lived on";
}

TEST(RunFilter, TheTimeoutHoldsWhereverTheProgramHangs) {
  const std::string input(1 << 20, 'x');
  const milliseconds little{100};
  EXPECT_THAT(error_of("sleep 30", little), HasSubstr("within 0.1 s"));
  EXPECT_THAT(error_of("sleep 30", little, input), HasSubstr("no answer")) << "never reads";
  EXPECT_THAT(error_of("exec >&-; sleep 30", little), HasSubstr("no answer")) << "output closed";
  EXPECT_THAT(error_of("exec <&- >&-; sleep 30", little, input), HasSubstr("no answer"));
  EXPECT_THAT(error_of("while :; do echo y; done", little), HasSubstr("no answer")) << "never ends";
  EXPECT_THAT(error_of("trap '' TERM INT HUP; sleep 30", little), HasSubstr("no answer"));
}

TEST(RunFilter, NoPathLeavesAZombieOrAnOpenDescriptor) {
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(run_filter("cat", "x", kPlenty), "x");
    EXPECT_THAT(error_of("exit 1", kPlenty, "x"), HasSubstr("status 1"));
    EXPECT_THAT(error_of("kill -15 $$", kPlenty), HasSubstr("signal 15"));
    EXPECT_THAT(error_of("sleep 30", milliseconds{5}), HasSubstr("no answer"));
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_FALSE(has_children());
}

TEST(RunFilter, SeveralThreadsRunTheirOwnProgramsAtOnce) {
  std::vector<std::string> answers(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < answers.size(); ++t) {
      threads.emplace_back([t, &answers] {
        answers[t] = run_filter("cat", std::string(300'000, static_cast<char>('a' + t)), kPlenty);
      });
    }
  }
  for (std::size_t t = 0; t < answers.size(); ++t) {
    EXPECT_EQ(answers[t], std::string(300'000, static_cast<char>('a' + t)));
  }
}

TEST(RunFilter, AProgramThatWritesTooMuchIsStopped) {
  const auto start = std::chrono::steady_clock::now();
  try {
    run_filter("yes 1", "", kPlenty, 1'000'000);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_THAT(error.what(), HasSubstr("'yes 1' printed more than 1000000 bytes"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{20});
  EXPECT_FALSE(has_children());
  EXPECT_EQ(run_filter("head -c 5 /dev/zero", "", kPlenty, 5).size(), 5U);
}

TEST(RunFilter, ProgramsThatRunCanBeKilledFromElsewhere) {
  std::jthread killer([] {
    std::this_thread::sleep_for(milliseconds{200});
    kill_running_filters();
  });
  EXPECT_THAT(error_of("sleep 30; true", kPlenty), HasSubstr("was killed by signal 9"));
  kill_running_filters();  // nothing runs
}

TEST(RunFilter, AnUnlimitedTimeDoesNotOverflow) {
  EXPECT_EQ(run_filter("cat", "x", milliseconds::max()), "x");
}

}  // namespace
}  // namespace tare
