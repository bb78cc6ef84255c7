/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_LINUX_UNALIGNED_H
#define FUZZ_LINUX_UNALIGNED_H

#include <endian.h>
#include <string.h>
#include <linux/types.h>

static inline u32 get_unaligned_be32(const void *from)
{
	u32 word;

	memcpy(&word, from, sizeof(word));
	return be32toh(word);
}

static inline u64 get_unaligned_be64(const void *from)
{
	u64 word;

	memcpy(&word, from, sizeof(word));
	return be64toh(word);
}

static inline void put_unaligned_be32(u32 value, void *to)
{
	u32 word = htobe32(value);

	memcpy(to, &word, sizeof(word));
}

#endif
