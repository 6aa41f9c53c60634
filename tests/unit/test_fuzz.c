/* The fuzz targets of tests/fuzz over their seeds, and over a few hundred small changes of each: `make fuzz` goes on from there. */
#include <dirent.h>
#include <stdio.h>

#include "platform/base/cleanup.h"
#include "platform/base/sys.h"
#include "tests/unit/policy_help.h"

#define LLVMFuzzerTestOneInput fuzz_coverage
#include "tests/fuzz/fuzz_coverage.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_decide
#include "tests/fuzz/fuzz_decide.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_glob
#include "tests/fuzz/fuzz_glob.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_hosts
#include "tests/fuzz/fuzz_hosts.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_image
#include "tests/fuzz/fuzz_image.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_proxy
#include "tests/fuzz/fuzz_proxy.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_paths
#include "tests/fuzz/fuzz_paths.c"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_settings
#include "tests/fuzz/fuzz_settings.c"
#undef LLVMFuzzerTestOneInput

TestSuite(fuzz, .timeout = 100);

enum { CHANGES = 300 };

typedef int target(const uint8_t *data, size_t size);

static void change(uint8_t *to, const char *from, size_t *size, uint64_t *seed)
{
	memcpy(to, from, *size);
	for (int n = 1 + (int)(*seed >> 60); n && *size; n--) {
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		size_t at = (size_t)(*seed >> 33) % *size;
		switch ((*seed >> 20) % 4) {
		case 0:  *size = at; break;
		case 1:  to[at] = to[(*seed >> 24) % *size]; break;
		default: to[at] = (uint8_t)(*seed >> 25); break;
		}
	}
}

static void run_seeds(target *f, const char *name)
{
	_cleanup_free_ char *dir = strf("tests/fuzz/seeds/%s", name);
	DIR *d = opendir(dir);
	struct dirent *entry;
	int seeds = 0;
	uint64_t state = 1;

	cr_assert(d, "%s: tests run in the top directory", dir);
	while ((entry = readdir(d))) {
		_cleanup_free_ char *path = strf("%s/%s", dir, entry->d_name), *text = NULL;
		size_t size;

		if (entry->d_name[0] == '.')
			continue;
		cr_assert_eq(read_file(path, 1 << 20, &text, &size), 0, "%s", path);
		f((const uint8_t *)text, size);
		seeds++;
		for (int i = 0; i < CHANGES; i++) {
			uint8_t *changed = malloc(size + 1);
			size_t n = size;

			change(changed, text, &n, &state);
			uint8_t *exact = malloc(n + !n);
			memcpy(exact, changed, n);
			free(changed);
			f(exact, n);
			free(exact);
		}
	}
	closedir(d);
	cr_assert_gt(seeds, 1);
}

Test(fuzz, coverage) { run_seeds(fuzz_coverage, "coverage"); }
Test(fuzz, decide)   { run_seeds(fuzz_decide, "decide"); }
Test(fuzz, glob)     { run_seeds(fuzz_glob, "glob"); }
Test(fuzz, hosts)    { run_seeds(fuzz_hosts, "hosts"); }
Test(fuzz, image)    { run_seeds(fuzz_image, "image"); }
Test(fuzz, proxy)    { run_seeds(fuzz_proxy, "proxy"); }
Test(fuzz, paths)    { run_seeds(fuzz_paths, "paths"); }
Test(fuzz, settings) { run_seeds(fuzz_settings, "settings"); }
