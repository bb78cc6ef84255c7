// SPDX-License-Identifier: GPL-2.0
/* 6.12: "move asm/unaligned.h to linux/unaligned.h" */
#ifdef PRESENT_FORM
#if !__has_include("linux/unaligned.h")
#error no linux/unaligned.h
#endif
#else
#if !__has_include("asm/unaligned.h")
#error no asm/unaligned.h
#endif
#endif
