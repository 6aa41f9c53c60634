/* For parity.c: what is called, with what, on which paths. */
#pragma once

#define LONG10(x) x x x x x x x x x x
#define NAME255 LONG10(LONG10("ab")) LONG10("cdefg") "hijkl"

static const char *const all_paths[] = {
	"file", "missing", "dir", "link", "link2", "dlink", "dangling", "dangdir", "dangslash", "newlink", "loop", "fifo", "ro", "noread", "rodir",
	"file/", "missing/", "dir/", "dir//", "link/", "dlink/", "dangling/", "newlink/", "loop/", "fifo/", "slashdir", "slashfile", "slashdir/",
	".", "..", "./", "../", "dotlink", "dotlink/.", "dotdotlink", "dotdotlink/file", "dir/.", "dir/..", "dir/sub/..", "file/.", "file/..",
	"missing/..", "dir/../file", "dir/../missing", "dlink/../file", "dlink/../missing", "dir/sub/../../file", "./file", ".//dir//file",
	"dir/file", "dir/missing", "dlink/file", "dlink/missing", "through", "dots", "dir/up", "file/x", "missing/x", "link/x", "dangling/x",
	"loop/x", "abslink", "abslink/file", "abslink/missing", "rodir/x", "rodir/missing", "nosearch/x", "nosearch/missing", "nosearch",
	"../chain/30", "../chain/60", "odd\nname ", "gone (deleted)", "", NAME255, NAME255 "x", "\1\2", NULL,
};
/* fewer, for those with two names */
static const char *const two_paths[] = {
	"file", "missing", "dir", "empty", "link", "dlink", "dangling", "loop", "file/", "missing/", "empty/", "dlink/", "dangling/", ".", "..",
	"dir/.", "dir/..", "empty/.", "dlink/../other", "dir/file", "dir/hard", "other", "dir/full", "dir/sub", "dir/new", "dlink/new", "dlink/file",
	"file/x", "missing/x", "rodir/x", "rodir/new", "abslink/file", "newlink", "", "fifo", NULL,
};
static const char *const exec_paths[] = {
	"exec.sh", "./exec.sh", "execlink", "noshebang", "./noshebang", "badshebang", "./badshebang", "noexec", "./noexec", "garbage", "./garbage",
	"hollow", "./hollow", "dir", "./dir", "missing", "./missing", "dangling", "./dangling", "./loop", "exec.sh/", "file/x", "./file/x", "", ".",
	"dir/../exec.sh", "abslink/exec.sh", "true", NULL,
};
static const char *const one_path[] = { "-", NULL };

#define V(n) { #n, n }
static const struct variant open_flags[] = {
	V(O_RDONLY), V(O_WRONLY | O_NONBLOCK), V(O_RDWR), V(O_RDONLY | O_NONBLOCK), V(O_RDWR | O_NOFOLLOW), V(O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
	V(O_RDWR | O_CREAT), V(O_WRONLY | O_CREAT | O_EXCL), V(O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK), V(O_RDONLY | O_CREAT | O_NONBLOCK),
	V(O_RDONLY | O_TRUNC | O_NONBLOCK), V(O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC), V(O_RDONLY | O_DIRECTORY), V(O_RDWR | O_DIRECTORY),
	V(O_RDONLY | O_DIRECTORY | O_NOFOLLOW), V(O_PATH), V(O_PATH | O_NOFOLLOW), V(O_PATH | O_DIRECTORY), V(O_RDWR | O_TMPFILE),
	V(O_WRONLY | O_TMPFILE | O_EXCL), V(O_RDWR | O_CREAT | O_NOFOLLOW), V(O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW), V(O_RDWR | O_SYNC),
	V(O_ACCMODE | O_NONBLOCK), V(O_WRONLY | O_CREAT | O_DIRECTORY), V(O_RDWR | O_NOATIME), V(O_RDONLY | O_TMPFILE), V(O_RDWR | O_NOCTTY | O_DSYNC), {0},
};
static const struct variant raw_flags[] = { { "O_RDWR|junk", O_RDWR | 0x40000000 }, { "O_RDONLY|__O_TMPFILE", 020000000 }, {0} };
static const struct variant creat_modes[] = { { "0640", 0640 }, { "0", 0 }, { "07777", 07777 }, {0} };
static const struct variant stream_modes[] = {
	{ "r", 0 }, { "w", 0 }, { "a", 0 }, { "r+", 0 }, { "w+", 0 }, { "a+", 0 }, { "rb", 0 }, { "rb+", 0 }, { "wx", 0 }, { "w+x", 0 }, { "re", 0 },
	{ "we", 0 }, { "rw", 0 }, { "z", 0 }, { "", 0 }, { "rm", 0 }, { "wc", 0 }, {0},
};
static const struct variant reopen_modes[] = { { "r", 0 }, { "r+", 0 }, { "w", 0 }, { "a", 0 }, {0} };
static const struct variant none[] = { { "", 0 }, {0} };
static const struct variant dir_modes[] = { { "0755", 0755 }, { "0", 0 }, { "01777", 01777 }, {0} };
static const struct variant node_types[] = {
	{ "S_IFREG|0640", S_IFREG | 0640 }, { "S_IFIFO|0600", S_IFIFO | 0600 }, { "S_IFSOCK|0600", S_IFSOCK | 0600 }, { "0600", 0600 },
	{ "S_IFDIR|0700", S_IFDIR | 0700 }, { "S_IFMT", S_IFMT }, {0},
};
static const struct variant contents[] = { { "file", 0 }, { "", 0 }, { "../nowhere", 0 }, { "a/./b//", 0 }, {0} };
static const struct variant link_flags[] = { V(0), V(AT_SYMLINK_FOLLOW), { "0x4000", 0x4000 }, {0} };
static const struct variant unlink_flags[] = { V(0), V(AT_REMOVEDIR), { "0x4000", 0x4000 }, {0} };
static const struct variant rename_flags[] = {
	V(0), { "NOREPLACE", 1 }, { "EXCHANGE", 2 }, { "NOREPLACE|EXCHANGE", 3 }, { "WHITEOUT|EXCHANGE", 6 }, { "0x10", 16 }, {0},
};
static const struct variant lengths[] = { V(0), V(3), V(100000), V(-1), {0} };
static const struct variant modes[] = { { "0600", 0600 }, { "0", 0 }, { "07755", 07755 }, {0} };
static const struct variant owners[] = { V(-1), V(0), V(12345), {0} };
static const struct variant time_flags[] = {
	V(0), V(AT_SYMLINK_NOFOLLOW), V(TIMES_NOW), V(TIMES_OMIT), V(TIMES_BAD), V(0x4000), V(AT_EMPTY_PATH), {0},
};
static const struct variant times_forms[] = { { "utime", 0 }, { "utimes", 1 }, { "lutimes", 2 }, {0} };
static const struct variant access_modes[] = { V(F_OK), V(R_OK), V(W_OK), V(X_OK), V(R_OK | W_OK), V(R_OK | W_OK | X_OK), V(8), {0} };
static const struct variant eaccess_modes[] = {
	V(W_OK | AT_EACCESS), V(R_OK | AT_EACCESS), V(W_OK | AT_SYMLINK_NOFOLLOW), V(R_OK | AT_SYMLINK_NOFOLLOW), V(W_OK | AT_SYMLINK_NOFOLLOW | AT_EACCESS),
	V(W_OK | 0x4000), {0},
};
static const struct variant xattr_forms[] = {
	{ "set", 0 }, { "lset CREATE", 1 }, { "set REPLACE", 2 }, { "get", 3 }, { "lget", 4 }, { "remove", 5 }, { "lremove", 6 }, { "list", 7 },
	{ "set nonsense", 8 }, {0},
};
static const struct variant temporary[] = {
	{ "XXXXXX", 0 }, { "/XXXXXX", 4 }, { "/XXXXXX", 1 }, { "/tXXXXXX", 2 }, { "/XXXXXX.txt", 3 }, { "/XXXXX", 4 }, { "/XXXXXXy", 4 }, {0},
};
static const struct variant socket_calls[] = { { "bind", 0 }, { "connect", 1 }, {0} };
static const struct variant exec_forms[] = {
	{ "execve", 0 }, { "execv", 1 }, { "execvp", 2 }, { "execvpe", 3 }, { "execl", 4 }, { "execlp", 5 }, { "execle", 6 }, { "execveat", 7 },
	{ "execveat NOFOLLOW", 8 }, { "fexecve", 9 }, { "SYS_execve", 10 }, { "execl of many", 11 }, {0},
};
static const struct variant spawn_forms[] = { { "posix_spawn", 0 }, { "posix_spawnp", 1 }, { "posix_spawn and a file", 2 }, {0} };
static const struct variant odd_calls[] = {
#define O(n) { #n, n }
	O(0), O(1), O(2), O(3), O(4), O(5), O(6), O(7), O(8), O(9), O(10), O(11), O(12), O(13), O(14), O(15), O(16), O(17), O(18), O(19), O(20),
	O(21), O(22), O(23), O(24), O(25), O(26), O(27), O(28), O(29), O(30), O(31), O(32), O(33), O(34), O(35), O(36), O(37), O(38), {0},
};

static const struct group groups[] = {
	{ "open", do_open, open_flags, all_paths, NULL },
	{ "rawopen", do_open, raw_flags, all_paths, NULL },
	{ "creat", do_creat, creat_modes, all_paths, NULL },
	{ "fopen", do_fopen, stream_modes, all_paths, NULL },
	{ "freopen", do_freopen, stream_modes, two_paths, NULL },
	{ "reopen", do_reopen, reopen_modes, two_paths, NULL },
	{ "opendir", do_opendir, none, all_paths, NULL },
	{ "mkdir", do_mkdir, dir_modes, all_paths, NULL },
	{ "mknod", do_mknod, node_types, all_paths, NULL },
	{ "mkfifo", do_mkfifo, creat_modes, all_paths, NULL },
	{ "symlink", do_symlink, contents, all_paths, NULL },
	{ "link", do_link, link_flags, two_paths, two_paths },
	{ "unlink", do_unlink, unlink_flags, all_paths, NULL },
	{ "rmdir", do_rmdir, none, all_paths, NULL },
	{ "remove", do_remove, none, all_paths, NULL },
	{ "rename", do_rename, rename_flags, two_paths, two_paths },
	{ "truncate", do_truncate, lengths, all_paths, NULL },
	{ "chmod", do_chmod, modes, all_paths, NULL },
	{ "lchmod", do_lchmod, modes, all_paths, NULL },
	{ "chown", do_chown, owners, all_paths, NULL },
	{ "lchown", do_lchown, owners, all_paths, NULL },
	{ "utimensat", do_utimens, time_flags, all_paths, NULL },
	{ "utimes", do_utimes, times_forms, all_paths, NULL },
	{ "access", do_access, access_modes, all_paths, NULL },
	{ "eaccess", do_eaccess, eaccess_modes, all_paths, NULL },
	{ "xattr", do_xattr, xattr_forms, all_paths, NULL },
	{ "mkstemp", do_mkstemp, temporary, all_paths, NULL },
	{ "socket", do_bind, socket_calls, two_paths, NULL },
	{ "exec", do_exec, exec_forms, exec_paths, NULL },
	{ "spawn", do_spawn, spawn_forms, exec_paths, NULL },
	{ "odd", do_odd, odd_calls, one_path, NULL },
};
