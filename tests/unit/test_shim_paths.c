/* preload/path.c: what a path is called, by its text, and held open. Compared with realpath(3) over trees of links. */
#include "platform/base/cleanup.h"
#include "tests/unit/policy_help.h"

#include "preload/path.c"

TestSuite(shim_paths, .timeout = 60);

/* An image that knows two links of the root directory and nothing else. */
static struct aliased { struct image img; struct image_alias alias[2]; char text[64]; } aliased;

static void set_image(unsigned flags)
{
	static const char text[] = "/bin\0/usr/bin\0/var/run\0/run";

	memcpy(aliased.text, text, sizeof(text));
	const uint32_t at = offsetof(struct aliased, text);
	aliased.alias[0] = (struct image_alias){ at, at + 5, 4, 8 };
	aliased.alias[1] = (struct image_alias){ at + 14, at + 23, 8, 4 };
	aliased.img = (struct image){
		.size = sizeof(aliased), .flags = flags, .aliases = offsetof(struct aliased, alias), .n_aliases = 2,
		.alias_initials = 1u << ('b' & 31) | 1u << ('v' & 31),
	};
	shim.image = &aliased.img;
}

/* ---- texts ---- */

Test(shim_paths, text_grows_once_and_has_an_end)
{
	TEXT(t);
	char long_name[5000];

	memset(long_name, 'x', sizeof(long_name));
	cr_assert_eq(text_set(&t, "", 0), 0);
	while (t.cap == TEXT_SMALL) {
		cr_assert(t.len < TEXT_SMALL && t.s[t.len] == '\0');
		cr_assert_eq(text_add(&t, "a", 1), 0);
	}
	cr_assert(t.cap == TEXT_LARGE && t.len >= TEXT_SMALL - 2 && strspn(t.s, "a") == t.len, "what was there moves along");
	const uint32_t len = t.len;
	cr_assert_eq(text_add(&t, long_name, sizeof(long_name)), 0);
	cr_assert_eq(text_add(&t, long_name, sizeof(long_name)), -ENAMETOOLONG);
	cr_assert_eq(t.len, len + sizeof(long_name), "nothing was added");
	cr_assert_eq(text_set(&t, "short", 5), 0);
	cr_assert_str_eq(t.s, "short");
}

Test(shim_paths, numbers)
{
	static const struct { const char *text; long want; } rows[] = {
		{ "0", 0 }, { "7", 7 }, { "12/fd", 12 }, { "12x", -1 }, { "", -1 }, { "-1", -1 }, { "/1", -1 }, { "999999999", 999999999 },
		{ "99999999999999999999", -1 }, { "1 ", -1 },
	};
	char digits[24];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(text_to_number(rows[i].text, NULL), rows[i].want, "%s", rows[i].text);
	cr_assert(text_number(digits, 0) == 1 && !strcmp(digits, "0"));
	cr_assert(text_number(digits, ~0ul) == strlen(digits) && strtoul(digits, NULL, 10) == ~0ul);
	cr_assert(text_equal("", "") && !text_equal("a", "ab") && !text_equal("ab", "a") && text_starts("ab", "") && !text_starts("a", "ab"));
}

Test(shim_paths, where_the_last_name_begins)
{
	static const struct { const char *path; long want; } rows[] = {
		{ "/a", 1 }, { "a", 0 }, { "/a/b", 3 }, { "a/b/", 2 }, { "a//b//", 3 }, { "/", -1 }, { "//", -1 }, { "", -1 }, { ".", -1 },
		{ "..", -1 }, { "a/.", -1 }, { "a/..", -1 }, { "a/./", -1 }, { "a/../", -1 }, { "/.", -1 }, { "...", 0 }, { ".a", 0 }, { "a/..b", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(split(rows[i].path, strlen(rows[i].path)), rows[i].want, "%s", rows[i].path);
}

/* ---- lexical names ---- */

Test(shim_paths, lexical_names)
{
	/* "@" is the working directory; kernel: what the kernel should be given when it is not the path itself */
	static const struct { const char *path, *name, *kernel; } rows[] = {
		{ "/", "/", NULL }, { "/a", "/a", NULL }, { "/a/b", "/a/b", NULL }, { "//a", "/a", NULL }, { "/a//b", "/a/b", NULL },
		{ "/a/./b", "/a/b", NULL }, { "/./a", "/a", NULL }, { "/a/", "/a", NULL }, { "/a/.", "/a", NULL }, { "///", "/", NULL }, { "/.", "/", NULL },
		{ "/a/.b", "/a/.b", NULL }, { "/.b", "/.b", NULL }, { "/a/..b", "/a/..b", NULL }, { "/...", "/...", NULL },
		{ "/a/..", NULL, NULL }, { "/..", NULL, NULL }, { "/a/../b", NULL, NULL }, { "..", NULL, NULL }, { "a/../b", NULL, NULL },
		{ "a", "@/a", NULL }, { "./a", "@/a", NULL }, { ".", "@", NULL }, { "a/b/", "@/a/b", NULL }, { "a//./b", "@/a/b", NULL },
		{ "/bin", "/usr/bin", "/usr/bin" }, { "/bin/ls", "/usr/bin/ls", "/usr/bin/ls" }, { "/binx", "/binx", NULL }, { "/bi", "/bi", NULL },
		{ "/b", "/b", NULL }, { "/bin/", NULL, NULL }, { "/bin/.", NULL, NULL }, { "/bin//ls", "/usr/bin/ls", "/usr/bin/ls" },
		{ "//bin/ls", "/usr/bin/ls", "/usr/bin/ls" }, { "/a/bin", "/a/bin", NULL }, { "/var/run/x", "/run/x", "/run/x" }, { "/var/run", "/run", "/run" },
		{ "/var/runx", "/var/runx", NULL }, { "/var/run/a/b", "/run/a/b", "/run/a/b" },
	};
	struct scratch s;

	set_image(0);
	scratch_begin(&s);
	cr_assert_eq(chdir(s.cwd), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		TEXT(t);
		const char *kernel = NULL;
		_cleanup_free_ char *want = rows[i].name && rows[i].name[0] == '@' ? strf("%s%s", s.cwd, rows[i].name + 1) : NULL;
		_cleanup_free_ char *path = xstrdup(rows[i].path); /* exactly as long, for AddressSanitizer */
		int r = lexical_name(AT_FDCWD, path, &t, &kernel);

		cr_assert_eq(r, rows[i].name != NULL, "%s", rows[i].path);
		if (r != 1)
			continue;
		cr_assert(t.len == strlen(want ? want : rows[i].name) && !memcmp(t.s, want ? want : rows[i].name, t.len), "%s is %s", rows[i].path, t.s);
		cr_assert_str_eq(kernel, rows[i].kernel ? rows[i].kernel : rows[i].path);
	}
	scratch_end(&s);
}

Test(shim_paths, lexical_names_below_a_descriptor)
{
	struct scratch s;
	TEXT(t);
	TEXT(gone);
	TEXT(nothing);
	const char *kernel;

	set_image(0);
	scratch_begin(&s);
	int fd = open(s.home, O_PATH | O_DIRECTORY);
	_cleanup_free_ char *want = strf("%s/x/y", s.home);
	cr_assert_eq(lexical_name(fd, "x//y", &t, &kernel), 1);
	cr_assert(t.len == strlen(want) && !memcmp(t.s, want, t.len));
	cr_assert_eq(rmdir(s.home), 0);
	cr_assert_eq(lexical_name(fd, "x", &gone, &kernel), 0, "a directory that is gone");
	close(fd);
	cr_assert_eq(lexical_name(fd, "x", &nothing, &kernel), 0, "no descriptor");
	scratch_end(&s);
}

/* A long alias may lead beyond what there is room for: then the text stays as it was. */
Test(shim_paths, long_lexical_names)
{
	set_image(0);
	for (size_t n = 390; n < 420; n++) {
		TEXT(t);
		const char *kernel;
		char path[512] = "/bin/";

		memset(path + 5, 'x', n - 5);
		path[n] = '\0';
		cr_assert_eq(lexical_name(AT_FDCWD, path, &t, &kernel), 1);
		cr_assert(t.len == n + 4 && !strncmp(t.s, "/usr/bin/xxx", 12) && t.s[t.len] == '\0', "%zu", n);
	}
}

/* ---- held places ---- */

static uint64_t state = 1;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static const char *const names[] = { "a", "b", "c", "d", "up", "here", "abs", "to", "gone", "loop", "." , ".." };

/* A small world: directories two deep, links of every kind between them. */
static void make_world(const struct scratch *s)
{
	static const char *const dirs[] = { "@/cwd/a", "@/cwd/b", "@/cwd/a/b", "@/cwd/a/c", "@/cwd/b/a", "@/cwd/b/a/d" };
	static const struct { const char *target, *path; } links[] = {
		{ "..", "@/cwd/a/up" }, { "../..", "@/cwd/b/a/up" }, { ".", "@/cwd/here" }, { "@/cwd/b", "@/cwd/a/abs" }, { "a/b", "@/cwd/to" },
		{ "../to/../c", "@/cwd/b/to" }, { "nothing", "@/cwd/a/gone" }, { "../gone/x", "@/cwd/b/gone" }, { "loop", "@/cwd/loop" },
		{ "../b//./a/", "@/cwd/a/b/to" }, { "@/home", "@/cwd/b/a/abs" }, { "d", "@/cwd/a/to" }, { "/", "@/cwd/b/a/here" },
	};
	static const char *const files[] = { "@/cwd/d", "@/cwd/a/d", "@/cwd/b/a/d/c" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		make_dir(s, dirs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		make_link(s, links[i].target, links[i].path);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		make_file(s, files[i], "");
}

static void random_path(char *to, size_t size, const char *cwd)
{
	size_t n = (size_t)snprintf(to, size, "%s", below(3) ? "" : cwd);

	for (unsigned i = 1 + below(5); i; i--)
		n += (size_t)snprintf(to + n, size - n, "%s%s", n ? below(8) ? "/" : "//" : "", names[below(ARRAY_SIZE(names))]);
	if (!below(6))
		snprintf(to + n, size - n, "/");
}

static int descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void same_as_kernel(const char *path, bool follow)
{
	TARGET(t);
	char want[PATH_MAX];
	struct stat st, held;
	int r = target_open(&t, AT_FDCWD, path, follow), kernel = follow ? stat(path, &st) : lstat(path, &st);
	int error = kernel < 0 ? errno : 0;

	if (!error) {
		cr_assert(r == 0 && t.exists && t.object >= 0, "%s (follow %d): %d, but it is there", path, follow, r);
		cr_assert(fstat(t.object, &held) == 0 && held.st_ino == st.st_ino && held.st_dev == st.st_dev, "%s: another object", path);
		if (!S_ISLNK(st.st_mode))
			cr_assert(realpath(path, want) && !strcmp(want, t.place.name.s), "%s: %s, not %s", path, t.place.name.s, want);
	} else if (r < 0) {
		cr_assert_eq(-r, error, "%s (follow %d): %s, not %s", path, follow, strerror(-r), strerror(error));
	} else {
		/* a dangling link says where the file would be made */
		cr_assert(error == ENOENT && !t.exists && t.object < 0, "%s (follow %d): the kernel says %s", path, follow, strerror(error));
	}
}

Test(shim_paths, held_objects_are_what_the_kernel_finds)
{
	struct scratch s;

	scratch_begin(&s);
	make_world(&s);
	cr_assert_eq(chdir(s.cwd), 0);
	const int before = descriptors();
	for (int i = 0; i < 20000; i++) {
		char path[512];

		set_image(i % 2 ? IMAGE_OPENAT2 : 0);
		random_path(path, sizeof(path), s.cwd);
		same_as_kernel(path, i % 3);
	}
	cr_assert_eq(descriptors(), before, "descriptors stay open");
	cr_assert_eq(chdir("/"), 0);
	scratch_end(&s);
}

/* What is to be made lies where the kernel makes it. */
Test(shim_paths, places_are_where_the_kernel_makes_names)
{
	struct scratch s;
	unsigned made = 0;

	scratch_begin(&s);
	make_world(&s);
	cr_assert_eq(chdir(s.cwd), 0);
	for (int i = 0; i < 6000; i++) {
		PLACE(p);
		char path[512], want[PATH_MAX];

		set_image(i % 2 ? IMAGE_OPENAT2 : 0);
		random_path(path, sizeof(path) - 8, s.cwd);
		snprintf(path + strlen(path), 8, "/new");
		int r = place_open(&p, AT_FDCWD, path), fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600), error = fd < 0 ? errno : 0;
		if (fd < 0) {
			cr_assert_eq(-r, error, "%s: %s, not %s", path, strerror(-r), strerror(error));
			continue;
		}
		made++;
		close(fd);
		cr_assert(r == 0 && !p.whole && realpath(path, want) && !strcmp(want, p.name.s), "%s: %s, not %s", path, p.name.s, want);
		cr_assert_eq(unlinkat(p.anchor, p.base, 0), 0, "%s: the anchor leads elsewhere", path);
	}
	cr_assert_gt(made, 300, "%u", made);
	cr_assert_eq(chdir("/"), 0);
	scratch_end(&s);
}

Test(shim_paths, too_long)
{
	TARGET(t);
	char path[5000];

	set_image(IMAGE_OPENAT2);
	memset(path, '/', sizeof(path));
	path[4096] = '\0';
	cr_assert_eq(target_open(&t, AT_FDCWD, path, true), -ENAMETOOLONG);
	target_release(&t);
	path[4095] = '\0';
	cr_assert_eq(target_open(&t, AT_FDCWD, path, true), 0, "4095 slashes are /");
	cr_assert(t.exists && !strcmp(t.place.name.s, "/"));
}
