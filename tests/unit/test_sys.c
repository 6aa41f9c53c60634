#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "platform/base/cleanup.h"
#include "platform/base/str.h"
#include "platform/base/sys.h"

static char *fresh_directory(void)
{
	const char *base = getenv("TMPDIR");
	char *path = strf("%s/sys-test.XXXXXX", base && *base ? base : "/tmp");

	cr_assert(mkdtemp(path), "mkdtemp %s", path);
	return path;
}

Test(sys, files)
{
	_cleanup_free_ char *dir = fresh_directory(), *path = strf("%s/file", dir);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0;
	struct stat st;
	mode_t old = umask(077);

	cr_assert_eq(write_new_file_at(fd, "file", 0644, "abc", 3), 0, "new file");
	umask(old);
	cr_assert(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644, "exactly this mode, whatever the umask");
	cr_assert_eq(write_new_file_at(fd, "file", 0644, "abc", 3), -EEXIST, "never an old file");
	cr_assert(symlinkat("nowhere", fd, "link") == 0 && write_new_file_at(fd, "link", 0644, "", 0) == -EEXIST, "never a link");
	cr_assert(read_file(path, 3, &text, &len) == 0 && len == 3 && !strcmp(text, "abc"), "exactly the limit");
	free(text);
	cr_assert_eq(read_file(path, 2, &text, &len), -EFBIG, "beyond the limit");
	cr_assert_eq(read_file("/nonexistent/file", 9, &text, &len), -ENOENT, "missing");
	cr_assert_eq(read_file(dir, 9, &text, &len), -EISDIR, "directory");
	cr_assert(read_file("/proc/self/status", 1 << 20, &text, NULL) == 0 && strstr(text, "Pid:"), "a file without a size");
	free(text);
	cr_assert_eq(remove_tree(dir), 0, "removed");
}

Test(sys, directories)
{
	_cleanup_free_ char *dir = fresh_directory(), *deep = strf("%s/a//b/c/", dir), *file = strf("%s/f", dir), *below = strf("%s/x", file);
	_cleanup_close_ int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	cr_assert_eq(make_directories(deep, 0700), 0, "made");
	cr_assert(stat(deep, &st) == 0 && (st.st_mode & 0777) == 0700, "with this mode");
	cr_assert_eq(make_directories(deep, 0700), 0, "again");
	cr_assert_eq(make_directories("/", 0700), 0, "the root is there");
	cr_assert_eq(make_directories("", 0700), -ENOENT, "no path");
	cr_assert_eq(write_new_file_at(fd, "f", 0600, "", 0), 0, "file");
	cr_assert_eq(make_directories(file, 0700), -ENOTDIR, "a file in its place");
	cr_assert_eq(make_directories(below, 0700), -ENOTDIR, "a file on the way");
	cr_assert_eq(remove_tree(dir), 0, "removed");
	cr_assert_eq(remove_tree(dir), -ENOENT, "gone");
}

/* As hostile as a tree can be made without root: deep, unreadable, with links out. */
Test(sys, remove_tree_is_not_led_astray)
{
	_cleanup_free_ char *dir = fresh_directory(), *outside = fresh_directory(), *kept = strf("%s/kept", outside);
	_cleanup_close_ int out = open(outside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert_eq(write_new_file_at(out, "kept", 0600, "", 0), 0, "file outside");
	cr_assert(symlinkat(outside, fd, "link") == 0 && mkdirat(fd, "locked", 0700) == 0, "link, directory");
	cr_assert(mkdirat(fd, "locked/inner", 0700) == 0 && fchmodat(fd, "locked/inner", 0, 0) == 0 && fchmodat(fd, "locked", 0, 0) == 0,
	          "locked directories");
	for (int i = 0; i < 3000; i++) {
		int next;

		cr_assert(mkdirat(fd, "d", 0700) == 0, "level %d", i);
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
		if (i % 100 == 0)
			cr_assert_eq(write_new_file_at(fd, "f", 0400, "", 0), 0, "file at %d", i);
	}
	close(fd);
	cr_assert_eq(remove_tree(dir), 0, "removed");
	cr_assert(access(dir, F_OK) != 0, "nothing is left");
	cr_assert(access(kept, F_OK) == 0, "the link was not followed");
	cr_assert(remove_tree(kept) == 0 && access(kept, F_OK) != 0, "a file is a tree too");
	cr_assert_eq(remove_tree(outside), 0, "removed");
}

Test(sys, home)
{
	char *home;

	setenv("HOME", "/home/example", 1);
	home = home_directory();
	cr_assert_str_eq(home, "/home/example", "got %s", home);
	free(home);
	unsetenv("HOME");
	home = home_directory();
	cr_assert(home == NULL || home[0] == '/', "from the password database, or not known");
	free(home);
}
