/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name. The parts that need it are not used here. */
