/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name: what needs it there is not needed here. */
