/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/core uses: @srclen is -1. */
#ifndef FUZZ_LINUX_INET_H
#define FUZZ_LINUX_INET_H

#include <arpa/inet.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

/* Reads the address that ends before the first byte of @ends, or is all of @src. */
static inline int fuzz_pton(int family, const char *src, u8 *dst,
			    const char *ends, const char **end)
{
	char text[INET6_ADDRSTRLEN] = "";
	size_t len = strcspn(src, ends);

	*end = src;
	if (len >= sizeof(text))
		return 0;
	memcpy(text, src, len);
	if (inet_pton(family, text, dst) != 1)
		return 0;
	*end = src + len;
	return 1;
}

/* The kernel's function takes a colon as the end of the address. */
static inline int in4_pton(const char *src, int srclen, u8 *dst, int delim,
			   const char **end)
{
	(void)srclen;
	(void)delim;
	return fuzz_pton(AF_INET, src, dst, ":", end);
}

static inline int in6_pton(const char *src, int srclen, u8 *dst, int delim,
			   const char **end)
{
	const char ends[] = { (char)delim, '\0' };

	(void)srclen;
	return fuzz_pton(AF_INET6, src, dst, ends, end);
}

#endif
