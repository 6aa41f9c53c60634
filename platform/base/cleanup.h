/* Cleanup attributes: what is owned is released when its scope ends; TAKE_* hands ownership over. */
#pragma once
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free_(void *p) { free(*(void **)p); }
static inline void cleanup_close_(int *fd) { if (*fd >= 0) close(*fd); }
static inline void cleanup_fclose_(FILE **f) { if (*f) fclose(*f); }
static inline void cleanup_closedir_(DIR **d) { if (*d) closedir(*d); }

#define _cleanup_(f)         __attribute__((cleanup(f)))
#define _cleanup_free_       _cleanup_(cleanup_free_)
#define _cleanup_close_      _cleanup_(cleanup_close_)
#define _cleanup_fclose_     _cleanup_(cleanup_fclose_)
#define _cleanup_closedir_   _cleanup_(cleanup_closedir_)

#define TAKE_PTR(p) ({ __typeof__(p) *p_ = &(p); __typeof__(p) v_ = *p_; *p_ = NULL; v_; })
#define TAKE_FD(fd) ({ int *p_ = &(fd); int v_ = *p_; *p_ = -1; v_; })
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
