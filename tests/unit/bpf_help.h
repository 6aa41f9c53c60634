/* What the kernel does with a seccomp filter: an interpreter of classic BPF, as far as filters use it. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { BPF_FAULT = 0xdead }; /* what the kernel would not have loaded */

static inline uint32_t bpf_run(const struct sock_filter *f, size_t n, const struct seccomp_data *d, size_t *ret_steps)
{
	uint32_t a = 0;
	size_t steps = 0;

	for (size_t pc = 0; pc < n; pc++) {
		const struct sock_filter *i = &f[pc];

		steps++;
		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k % 4 || i->k + 4 > sizeof(*d))
				return BPF_FAULT;
			memcpy(&a, (const char *)d + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K: a &= i->k; break;
		case BPF_JMP | BPF_JA:          pc += i->k; break;
		case BPF_JMP | BPF_JEQ | BPF_K: pc += a == i->k ? i->jt : i->jf; break;
		case BPF_JMP | BPF_JGT | BPF_K: pc += a > i->k ? i->jt : i->jf; break;
		case BPF_JMP | BPF_JGE | BPF_K: pc += a >= i->k ? i->jt : i->jf; break;
		case BPF_JMP | BPF_JSET | BPF_K: pc += a & i->k ? i->jt : i->jf; break;
		case BPF_RET | BPF_K:
			if (ret_steps)
				*ret_steps = steps;
			return i->k;
		default:
			return BPF_FAULT;
		}
	}
	return BPF_FAULT;
}
