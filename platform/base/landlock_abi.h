/*
 * Landlock's interface to the kernel (include/uapi/linux/landlock.h), of our own: headers of distributions stop at some version of it, and what is
 * asked of the kernel goes by the version that it says it has. A right in what is handled is refused unless a rule grants it.
 */
#pragma once
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum { LL_CREATE_RULESET_VERSION = 1, LL_RULE_PATH_BENEATH = 1 };

#define LL_EXECUTE     (UINT64_C(1) << 0)
#define LL_WRITE_FILE  (UINT64_C(1) << 1)
#define LL_READ_FILE   (UINT64_C(1) << 2)
#define LL_READ_DIR    (UINT64_C(1) << 3)
#define LL_REMOVE_DIR  (UINT64_C(1) << 4)
#define LL_REMOVE_FILE (UINT64_C(1) << 5)
#define LL_MAKE_CHAR   (UINT64_C(1) << 6)
#define LL_MAKE_DIR    (UINT64_C(1) << 7)
#define LL_MAKE_REG    (UINT64_C(1) << 8)
#define LL_MAKE_SOCK   (UINT64_C(1) << 9)
#define LL_MAKE_FIFO   (UINT64_C(1) << 10)
#define LL_MAKE_BLOCK  (UINT64_C(1) << 11)
#define LL_MAKE_SYM    (UINT64_C(1) << 12)
#define LL_REFER       (UINT64_C(1) << 13) /* ABI 2, Linux 5.19 */
#define LL_TRUNCATE    (UINT64_C(1) << 14) /* ABI 3, Linux 6.2 */
#define LL_IOCTL_DEV   (UINT64_C(1) << 15) /* ABI 5, Linux 6.10 */

/* The rights that a rule on anything but a directory may have. */
#define LL_OF_FILES (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

#define LL_SCOPE_ABSTRACT_UNIX (UINT64_C(1) << 0) /* ABI 6, Linux 6.12 */
#define LL_SCOPE_SIGNAL        (UINT64_C(1) << 1)

enum { LL_ABI_REFER = 2, LL_ABI_TRUNCATE = 3, LL_ABI_NET = 4, LL_ABI_IOCTL_DEV = 5, LL_ABI_SCOPE = 6 };

/* A kernel takes no longer one than it knows, unless the rest is zero; handled_net came with ABI 4, scoped with 6. */
struct ll_ruleset { uint64_t handled_fs, handled_net, scoped; };
struct ll_path_beneath { uint64_t allowed_access; int32_t parent_fd; } __attribute__((packed));
