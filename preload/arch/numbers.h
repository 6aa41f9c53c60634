/*
 * System calls of interpose.def that not every architecture has: -1 where there is none, which no program can ask for. New
 * architectures lack the calls without a directory descriptor; 32-bit x86 has a second call where the first one's words were too short.
 */
#pragma once

/* Position of the word that has the sign of a 64-bit length behind a path. */
#define WIDE_LENGTH (1 + (sizeof(long) == 4))

#ifndef SYS_open
#define SYS_open (-1)
#define SYS_creat (-1)
#define SYS_access (-1)
#define SYS_mkdir (-1)
#define SYS_mknod (-1)
#define SYS_symlink (-1)
#define SYS_link (-1)
#define SYS_unlink (-1)
#define SYS_rmdir (-1)
#define SYS_rename (-1)
#define SYS_chmod (-1)
#define SYS_chown (-1)
#define SYS_lchown (-1)
#define SYS_utime (-1)
#define SYS_utimes (-1)
#define SYS_futimesat (-1)
#endif

#ifndef SYS_socketcall
#define SYS_socketcall (-1)
#define SYS_chown32 (-1)
#define SYS_lchown32 (-1)
#define SYS_fchown32 (-1)
#define SYS_truncate64 (-1)
#define SYS_umount (-1)
#define SYS_utimensat_time64 (-1)
#endif
#ifndef SYS_utimensat_time64
#define SYS_utimensat_time64 412
#endif
