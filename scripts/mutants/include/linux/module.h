/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name. A program needs nothing of it. */
#define MODULE_DESCRIPTION(text)	_Static_assert(1, text)
#define MODULE_LICENSE(text)		_Static_assert(1, text)
#define MODULE_INFO(tag, text)		_Static_assert(1, text)
