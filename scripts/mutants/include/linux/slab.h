/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name: memory comes from kunit/test.h. */
