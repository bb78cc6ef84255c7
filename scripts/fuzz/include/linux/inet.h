/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/core uses, and ignores @delim. */
#ifndef FUZZ_LINUX_INET_H
#define FUZZ_LINUX_INET_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

static inline int fuzz_pton(int family, const char *src, int srclen, u8 *dst,
			    const char **end)
{
	char text[INET6_ADDRSTRLEN] = "";
	int known;

	*end = src;
	if (srclen < 0 || (size_t)srclen >= sizeof(text))
		return 0;
	memcpy(text, src, srclen);
	known = strlen(text) == (size_t)srclen &&
		inet_pton(family, text, dst) == 1;
	if (known)
		*end = src + srclen;
	return known;
}

static inline int in4_pton(const char *src, int srclen, u8 *dst, int delim,
			   const char **end)
{
	const char *colon = memchr(src, ':', srclen);

	(void)delim;
	/* The kernel's function takes a colon as the end of the address. */
	return fuzz_pton(AF_INET, src, colon ? colon - src : srclen, dst, end);
}

static inline int in6_pton(const char *src, int srclen, u8 *dst, int delim,
			   const char **end)
{
	(void)delim;
	return fuzz_pton(AF_INET6, src, srclen, dst, end);
}

#endif
