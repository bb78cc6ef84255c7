/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. Nothing of it is used in user space. */
