/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages of the round-trip extension as they are on the wire, written by hand. "Data" in the
 * comments is placed data (rtx.h). It begins where the target segments of the receiver begin. An
 * array that is shorter than the transmission in its comment has only the header, and the part of
 * the stream whose content matters. fx_whole() appends zeros up to the length in the
 * comment.
 */
#ifndef RPCRDMA_KUNIT_VECTORS_RTX_H
#define RPCRDMA_KUNIT_VECTORS_RTX_H

#include "vectors.h"

/* CONNPROP of a server, with the properties RBSIZ, BRS and RTX */
static const __be32 vec_rtx_connprop_server[] = {
	W(1), W(2), W(32), W(5), W(1), W(3), W(1), W(4), W(29696), W(2), W(4),
	W(1), W(0x80525401), W(28), W(1), W(64), W(16), W(0x101000), W(1024),
	W(4096), W(7),
};

/* CONNPROP of a client, with the properties RBSIZ, BRS and RTX */
static const __be32 vec_rtx_connprop_client[] = {
	W(1), W(2), W(128), W(5), W(0), W(3), W(1), W(4), W(16384), W(2), W(4),
	W(1), W(0x80525401), W(28), W(2), W(0), W(0), W(0), W(0), W(0), W(0),
};

/* NFSv3 WRITE of 8192 bytes, in one transmission of 9216 bytes: header and stream, padding from
 * 0x98 to 0x3ff, and then the data
 */
static const __be32 vec_rtx_write_8k[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(1), W(80), W(80),
	W(1024), W(1), W(0), W(1), W(80), W(8192), W(0), W(0), W(0), W(0),
	W(0x11223344), W(0), W(2), W(100003), W(3), W(7), W(0), W(0), W(0),
	W(0), W(16), W(0xa0a1a2a3), W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf),
	W(0), W(0), W(8192), W(2), W(8192),
};

/* NFSv3 WRITE of 65536 bytes, first of three transmissions: 29696 bytes, data from 0x400 on */
static const __be32 vec_rtx_write_64k_1[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(3), W(80), W(80),
	W(1024), W(1), W(0), W(1), W(80), W(0x10000), W(0), W(0), W(0), W(0),
	W(0x11223344), W(0), W(2), W(100003), W(3), W(7), W(0), W(0), W(0),
	W(0), W(16), W(0xa0a1a2a3), W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf),
	W(0), W(0), W(0x10000), W(2), W(0x10000),
};

/* NFSv3 WRITE of 65536 bytes, second transmission: 29696 bytes, no stream, data from 0x400 on */
static const __be32 vec_rtx_write_64k_2[] = {
	W(0x11223344), W(2), W(128), W(0x80525402), W(0), W(1), W(80), W(0),
	W(1024),
};

/* NFSv3 WRITE of 65536 bytes, third transmission: 9216 bytes, no stream, data from 0x400 on */
static const __be32 vec_rtx_write_64k_3[] = {
	W(0x11223344), W(2), W(128), W(0x80525402), W(0), W(2), W(80), W(0),
	W(1024),
};

/* Call of 100000 bytes without items, first of four transmissions: 29696 bytes */
static const __be32 vec_rtx_long_1[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(4), W(0x186a0),
	W(29632), W(0), W(1), W(0), W(0), W(0), W(0), W(0), W(0), W(0x11223344),
	W(0), W(2), W(100003), W(3),
};

/* Call of 100000 bytes without items, second transmission: 29696 bytes */
static const __be32 vec_rtx_long_2[] = {
	W(0x11223344), W(2), W(128), W(0x80525402), W(0), W(1), W(29632),
	W(29660), W(0),
};

/* Call of 100000 bytes without items, third transmission: 29696 bytes */
static const __be32 vec_rtx_long_3[] = {
	W(0x11223344), W(2), W(128), W(0x80525402), W(0), W(2), W(59292),
	W(29660), W(0),
};

/* Call of 100000 bytes without items, fourth transmission: 11084 bytes */
static const __be32 vec_rtx_long_4[] = {
	W(0x11223344), W(2), W(128), W(0x80525402), W(0), W(3), W(0x15b78),
	W(11048), W(0),
};

/* READDIRPLUS Call in one transmission. Its header offers five Receives for the Reply. */
static const __be32 vec_rtx_readdir[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(1), W(84), W(84),
	W(0), W(5), W(0), W(0), W(0), W(0), W(0), W(0), W(0x11223344), W(0),
	W(2), W(100003), W(3), W(17), W(0), W(0), W(0), W(0), W(16),
	W(0xa0a1a2a3), W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf), W(0), W(0),
	W(0), W(0), W(8192), W(0x10000),
};

/* Reply of 30000 bytes without items, first of two transmissions: 16384 bytes */
static const __be32 vec_rtx_reply_1[] = {
	W(0x11223344), W(2), W(32), W(0x80525401), W(1), W(2), W(30000),
	W(16320), W(0), W(0), W(0), W(0), W(0), W(0), W(0), W(0), W(0x11223344),
	W(1),
};

/* Reply of 30000 bytes without items, second transmission: 13716 bytes */
static const __be32 vec_rtx_reply_2[] = {
	W(0x11223344), W(2), W(32), W(0x80525402), W(1), W(1), W(16320),
	W(13680), W(0),
};

/* Call for a READ of 8192 bytes, whose result may be placed in the Reply */
static const __be32 vec_rtx_read_call[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(1), W(72), W(72),
	W(0), W(1), W(1), W(0), W(0), W(0), W(0), W(0), W(0x11223344), W(0),
	W(2), W(100003), W(3), W(6), W(0), W(0), W(0), W(0), W(16),
	W(0xa0a1a2a3), W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf), W(0), W(0),
	W(8192),
};

/* Reply to a READ of 8192 bytes, in one transmission of 9216 bytes, data from 0x400 on */
static const __be32 vec_rtx_read_reply[] = {
	W(0x11223344), W(2), W(32), W(0x80525401), W(1), W(1), W(44), W(44),
	W(1024), W(0), W(0), W(1), W(44), W(8192), W(0), W(0), W(0), W(0),
	W(0x11223344), W(1), W(0), W(0), W(0), W(0), W(0), W(0), W(8192), W(1),
	W(8192),
};

/* Error RTX_CONT */
static const __be32 vec_rtx_err_cont[] = {
	W(0x11223344), W(2), W(32), W(4), W(1), W(0x80525401),
};

/* Error RTX_LIMIT */
static const __be32 vec_rtx_err_limit[] = {
	W(0x11223344), W(2), W(32), W(4), W(1), W(0x80525402),
};

/* Call with two items, in one transmission of 13312 bytes, data from 0x400 on */
static const __be32 vec_rtx_two_items[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(1), W(120), W(120),
	W(1024), W(1), W(0), W(2), W(80), W(5001), W(5104), W(4096), W(0), W(0),
	W(0), W(0), W(0x11223344),
};

/* Call with an item and a Read chunk, in one transmission of 9216 bytes, data from 0x400 on */
static const __be32 vec_rtx_mixed[] = {
	W(0x11223344), W(2), W(128), W(0x80525401), W(0), W(1), W(120), W(120),
	W(1024), W(1), W(0), W(1), W(80), W(8192), W(0x40d01), W(1), W(8292),
	W(0x40d01), W(0x40000), W(5), W(0), W(0), W(0), W(0), W(0x11223344),
};

#endif /* RPCRDMA_KUNIT_VECTORS_RTX_H */
