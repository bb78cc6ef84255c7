/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MUTANTS_ASM_BYTEORDER_H
#define MUTANTS_ASM_BYTEORDER_H

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define cpu_to_be32(word)	((__be32)(word))
#else
#define cpu_to_be32(word)	((__be32)__builtin_bswap32(word))
#endif

#endif
