/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name. kunit/test.h has the allocator. */
