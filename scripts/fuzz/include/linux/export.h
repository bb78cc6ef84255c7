/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name. The pure rooms use nothing of it directly. */
