#!/usr/bin/env bats
# Compilers and build systems, twice.

load twin

setup() { setup_twin; }

# source_of PACKAGE: fetches a Debian source package once for this file, in folders of its own, from the mirror that this machine
# uses already, and prints the path of its tarball; or the reason why it cannot be had, and fails.
source_of() {
	local dir=$BATS_FILE_TMPDIR/source
	command -v apt-get >/dev/null || { echo 'no apt-get here'; return 1; }
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	# The lines that there are, as deb-src lines; both forms of sources files. Security and third parties have no such package.
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb \(.*\(debian\|ubuntu\)[^ ]* .*\)/deb-src \1/p' |
		grep -v security | head -n 1 >"$dir/sources.list"
	if [[ ! -s $dir/sources.list ]]; then
		awk -v RS= '/URIs:.*(debian|ubuntu)/ && !/security/ && !found++ {
			n = split($0, line, "\n")
			for (i = 1; i <= n; i++) { split(line[i], w, ": "); f[w[1]] = substr(line[i], length(w[1]) + 3) }
			split(f["Suites"], s, " ")
			print "deb-src " (f["Signed-By"] ~ /^\// ? "[signed-by=" f["Signed-By"] "] " : "") f["URIs"], s[1], f["Components"]
		}' /etc/apt/sources.list.d/*.sources >"$dir/sources.list" 2>/dev/null
	fi
	[[ -s $dir/sources.list ]] || { echo 'apt has no mirror to ask for sources'; return 1; }
	local apt=(apt-get -qq -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::Lists="$dir/lists"
		-o Dir::Cache="$dir/cache" -o Acquire::Languages=none -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o APT::Sandbox::User="$(id -un)"
		-o Debug::NoLocking=1)
	[[ -n $(find "$dir/lists" -name '*Sources*') ]] || timeout 60 "${apt[@]}" update >/dev/null 2>&1
	(cd "$dir" && timeout 60 "${apt[@]}" source --download-only "$1" >/dev/null 2>&1) || { echo "the source of $1 cannot be fetched"; return 1; }
	find "$dir" -name "$1_*.orig.tar.*" ! -name '*.asc'
}

@test "a C project from a Debian source package: configure, make -j2, make check, make install" {
	require_tool gcc make
	local tarball
	tarball=$(source_of hello) || skip_or_fail source "$tarball"
	tar -xf "$tarball" -C "$PROJECT" --strip-components=1
	HURDLE_TIMEOUT=140
	TWIN_VARIES=('*.log' 'config.status' '*.trs')
	twin <<'END'
export CFLAGS='-O0'
./configure --quiet --disable-dependency-tracking --prefix="$PWD/installed" 2>&1 | sort -u
make -s -j2 2>&1 | wc -l
make -s check 2>&1 | grep '^# \|^PASS\|^FAIL'
make -s install >/dev/null 2>&1
installed/bin/hello -g 'built twice'
find installed -type f | sort
make -s distclean; ls | wc -l
END
}

@test "a C project with a hand-written configure and a test suite" {
	require_tool gcc make
	local tarball
	tarball=$(source_of ed) || skip_or_fail source "$tarball"
	tar -xf "$tarball" -C "$PROJECT" --strip-components=1
	twin <<'END'
./configure --prefix="$PWD/installed" CFLAGS=-O0
make -s -j2
make -s check 2>&1 | tail -n 3
make -s install >/dev/null
printf 'a\ntext\n.\nw written\nq\n' | installed/bin/ed -s; cat written
make -s clean; ls
END
}

@test "gcc, ld, ar, objcopy, and their temporary files; a program of three files and two libraries" {
	require_tool gcc ar
	cat >"$PROJECT/main.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int one(void); int two(void);
int main(void) { FILE *f = tmpfile(); char name[] = "tXXXXXX"; int fd = mkstemp(name);
	fprintf(f, "x"); remove(name); printf("%d %d %d\n", one(), two(), fd > 2); return system("echo from the program >by-program"); }
END
	echo 'int one(void) { return 1; }' >"$PROJECT/one.c"
	echo 'int two(void) { return 2; }' >"$PROJECT/two.c"
	TWIN_VARIES=(covered) # a stamp
	twin <<'END'
gcc -c one.c two.c; ar rcsD libone.a one.o; gcc -shared -fPIC -o libtwo.so two.c
gcc -pipe -O2 -g -o main main.c -L. -lone -ltwo -Wl,-rpath,"$PWD" && ./main; cat by-program
gcc -save-temps=obj -o saved one.c two.c -x c - <<<'int main(void) { return 0; }' && ./saved
gcc -E main.c | wc -l; gcc -MMD -MF deps -c main.c; cat deps; gcc -flto -o lto main.c one.c two.c && ./lto
gcc -x c - -o nothing <<<'int main(void) { return }' 2>/dev/null || echo does not compile
objcopy --only-keep-debug main main.debug; strip main; objcopy --add-gnu-debuglink=main.debug main; ./main; nm -D libtwo.so | grep two; rm one.o; ar x libone.a; ar t libone.a
if command -v g++ >/dev/null; then g++ -o cpp -x c++ - <<<'#include <fstream>
#include <filesystem>
int main() { std::ofstream("stream") << "c++"; std::filesystem::create_directories("x/y"); std::filesystem::copy("stream", "x/copy"); std::filesystem::rename("x/copy", "x/y/z"); return std::filesystem::remove_all("nothing"); }' && ./cpp && cat x/y/z; fi
if command -v gcov >/dev/null; then gcc --coverage -o covered one.c main.c two.c && ./covered >/dev/null && ls | grep -c gcda; rm -f *.gcda *.gcno; fi
ls "$TMPDIR" | wc -l
END
}

@test "musl-gcc: dynamic programs of another libc" {
	require_tool musl-gcc
	# Its dynamic linker is where the compiler says only if musl itself is installed.
	echo 'int main(void) { return 0; }' | musl-gcc -x c - -o "$TWIN/try" && "$TWIN/try" || skip 'no musl loader here'
	cat >"$PROJECT/m.c" <<'END'
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
static void *work(void *p) { char n[20]; for (int i = 0; i < 200; i++) { snprintf(n, sizeof n, "t%d", (int)(long)p); FILE *f = fopen(n, "a"); fputs("x", f); fclose(f); } return p; }
int main(void)
{
	pthread_t t[4]; char name[] = "tmpXXXXXX", *argv[] = { "sh", "-c", "echo spawned by musl >spawned; exit 3", 0 }; int status; pid_t pid; struct stat st;
	for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, work, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	mkdir("d", 0750); rename("t0", "d/t0"); symlink("t0", "d/l"); link("d/t0", "hard"); chmod("d/l", 0600); truncate("d/l", 5); unlink("t1");
	close(mkstemp(name)); remove(name); close(open("o", O_RDWR | O_CREAT | O_EXCL, 0640)); printf("%d\n", open("o", O_RDWR | O_CREAT | O_EXCL, 0640));
	posix_spawnp(&pid, "sh", 0, 0, argv, environ); waitpid(pid, &status, 0); printf("%d\n", WEXITSTATUS(status));
	printf("%d\n", WEXITSTATUS(system("exit 4"))); FILE *p = popen("cat >popened", "w"); fputs("piped", p); pclose(p); stat("t2", &st); printf("%ld\n", (long)st.st_size); fflush(stdout);
	execlp("sh", "sh", "-c", "ls; echo $0", "musl", (char *)0); return 1;
}
END
	twin <<'END'
musl-gcc -w -O1 -o m m.c -pthread; ./m
musl-gcc -w -O1 -static -o s m.c -pthread; ls
END
}

@test "cmake: configure, build, test, install" {
	require_tool gcc
	command -v cmake >/dev/null || skip 'no cmake here'
	printf 'int twice(int x) { return 2 * x; }\n' >"$PROJECT/lib.c"
	printf 'int twice(int); int main(void) { return twice(21) - 42; }\n' >"$PROJECT/main.c"
	cat >"$PROJECT/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(p C)
include(CheckFunctionExists)
check_function_exists(openat HAVE_OPENAT)
configure_file(config.h.in config.h)
add_library(lib SHARED lib.c)
add_executable(main main.c)
target_link_libraries(main lib)
enable_testing()
add_test(NAME runs COMMAND main)
install(TARGETS main lib RUNTIME DESTINATION bin LIBRARY DESTINATION lib)
END
	echo '#cmakedefine HAVE_OPENAT' >"$PROJECT/config.h.in"
	TWIN_VARIES=('*.log' '*/Testing/*' '*.yaml' '*.make' '*.internal' '*CMakeCCompilerId*' '*.tgz')
	twin <<'END'
cmake -S . -B b -DCMAKE_BUILD_TYPE=Debug >configured; grep -c Check configured
cmake --build b -j 2 | sort | grep -v Built | wc -l
ctest --test-dir b 2>&1 | grep 'tests passed'
cmake --install b --prefix "$PWD/i" | sort; cat b/config.h; cmake -E tar czf a.tgz i --mtime=2001-01-01; LD_LIBRARY_PATH=$PWD/i/lib i/bin/main; rm configured
END
}

@test "go build" {
	command -v go >/dev/null || skip 'no go here'
	printf 'module m\n\ngo 1.15\n' >"$PROJECT/go.mod"
	printf 'package main\n\nimport ("fmt"; "os")\n\nfunc main() { fmt.Println("go", os.WriteFile("w", []byte("x"), 0644)) }\n' >"$PROJECT/main.go"
	# The go command makes its system calls itself, so it runs uncovered: that is reported, and nothing else changes.
	twin <<'END'
go build -trimpath -buildvcs=false -o prog . && ./prog; go vet . ; go run -trimpath . ; cat w
END
	[[ $(<"$TWIN/inside.err") == *go* ]]
}
