/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name, of which net/wire and net/core use nothing. */
