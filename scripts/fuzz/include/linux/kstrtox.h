/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/core uses. */
#ifndef FUZZ_LINUX_KSTRTOX_H
#define FUZZ_LINUX_KSTRTOX_H

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

static inline int kstrtou8(const char *s, unsigned int base, u8 *res)
{
	const char *digits = s + (*s == '+');
	size_t len = strspn(digits, "0123456789");
	unsigned long number = strtoul(digits, NULL, (int)base);

	if (!len || (digits[len] && strcmp(digits + len, "\n")))
		return -EINVAL;
	if (number > 255)
		return -ERANGE;
	*res = (u8)number;
	return 0;
}

#endif
