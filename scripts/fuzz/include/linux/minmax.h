/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_LINUX_MINMAX_H
#define FUZZ_LINUX_MINMAX_H

#ifdef __CPROVER__
/* CBMC (scripts/proofs) rejects nested declarations in expressions. */
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#else
#define min(a, b) \
	({ __auto_type a_ = (a); __auto_type b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) \
	({ __auto_type a_ = (a); __auto_type b_ = (b); a_ > b_ ? a_ : b_; })
#endif
#define min3(a, b, c)		min(min(a, b), c)
#define min_not_zero(a, b)	({ __auto_type x_ = (a); __auto_type y_ = (b); \
	!x_ ? y_ : !y_ ? x_ : min(x_, y_); })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, low, high)	min(max(v, low), high)

#define swap(a, b)	do {				\
	__typeof__(a) swap_ = (a);			\
	(a) = (b);					\
	(b) = swap_;					\
} while (0)

#endif
