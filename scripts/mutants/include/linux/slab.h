/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. The allocator is in kunit/test.h. */
