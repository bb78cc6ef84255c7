/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. In a program, its macros do nothing. */
#define MODULE_DESCRIPTION(text)	_Static_assert(1, text)
#define MODULE_LICENSE(text)		_Static_assert(1, text)
#define MODULE_INFO(tag, text)		_Static_assert(1, text)
