/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages and private data as they are on the wire, written by hand. A decoder that shares no
 * code with this module checks the messages of version 2 (scripts/tests/analysers/dissect.py).
 *
 * Documentation/wire.rst explains the layouts. If the code does not agree with a message, the RFCs
 * and drafts decide which of the two is wrong.
 */
#ifndef RPCRDMA_KUNIT_VECTORS_H
#define RPCRDMA_KUNIT_VECTORS_H

#include <asm/byteorder.h>
#include <linux/types.h>

#define W(word)	cpu_to_be32(word)

/* Version 1 short Call without chunks (NFSv3 NULL, AUTH_NONE) */
static const __be32 vec_v1_short_call[] = {
	W(0x11223344), W(1), W(32), W(0), W(0), W(0), W(0), W(0x11223344), W(0),
	W(2), W(100003), W(3), W(0), W(0), W(0), W(0), W(0),
};

/* Version 1 Call with one Read chunk of two segments (NFSv3 WRITE of 8195 bytes, without the
 * roundup)
 */
static const __be32 vec_v1_read_chunk_2seg[] = {
	W(0x11223344), W(1), W(32), W(0), W(1), W(80), W(0x10a01), W(4096),
	W(0x7f00), W(0x12340000), W(1), W(80), W(0x10a02), W(4099), W(0x7f00),
	W(0x12342000), W(0), W(0), W(0), W(0x11223344), W(0), W(2), W(100003),
	W(3), W(7), W(0), W(0), W(0), W(0), W(16), W(0xa0a1a2a3), W(0xa4a5a6a7),
	W(0xa8a9aaab), W(0xacadaeaf), W(0), W(0), W(8195), W(2), W(8195),
};

/* Version 1 Call with a Write list of two chunks and a Reply chunk (NFSv4.0 COMPOUND of PUTFH,
 * READ, READ)
 */
static const __be32 vec_v1_write2_reply[] = {
	W(0x11223344), W(1), W(32), W(0), W(0), W(1), W(2), W(0x20b01), W(4096),
	W(1), W(0), W(0x20b02), W(4096), W(1), W(8192), W(1), W(1), W(0x20b03),
	W(4096), W(2), W(0), W(0), W(1), W(1), W(0x20b04), W(2048), W(3),
	W(2048), W(0x11223344), W(0), W(2), W(100003), W(4), W(1), W(0), W(0),
	W(0), W(0), W(0), W(0), W(3), W(22), W(16), W(0xa0a1a2a3),
	W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf), W(25), W(0), W(0), W(0),
	W(0), W(0), W(0), W(8192), W(25), W(0), W(0), W(0), W(0), W(0), W(8192),
	W(4096),
};

/* Version 1 RDMA_NOMSG Call with a Position Zero chunk of 1500 bytes */
static const __be32 vec_v1_nomsg_pz[] = {
	W(0x11223344), W(1), W(32), W(1), W(1), W(0), W(0x30c01), W(1500), W(4),
	W(256), W(0), W(0), W(0),
};

/* Version 1 ERR_VERS of a server that speaks only version 1 (as the in-tree server of Linux does),
 * in answer to a version 2 message. rdma_vers is that of the refused message. There is no
 * rdma_flags word.
 */
static const __be32 vec_v1_err_vers[] = {
	W(0x11223344), W(2), W(128), W(4), W(1), W(1), W(1),
};

/* Version 1 error ERR_CHUNK, with a grant of 128 */
static const __be32 vec_v1_err_chunk[] = {
	W(0x11223344), W(1), W(128), W(4), W(2),
};

/* Version 1 Reply to an NFSv3 READ of 8192 bytes that returns 5001 bytes. The second segment is
 * partly used, and no roundup is written.
 */
static const __be32 vec_v1_reply_write_used[] = {
	W(0x11223344), W(1), W(128), W(0), W(0), W(1), W(2), W(0x20b01),
	W(4096), W(1), W(0), W(0x20b02), W(905), W(1), W(8192), W(0), W(0),
	W(0x11223344), W(1), W(0), W(0), W(0), W(0), W(0), W(0), W(5001), W(1),
	W(5001),
};

/* Version 1 Reply to a failed NFSv3 READ. The Write chunk is returned with its two segments, each
 * of length 0.
 */
static const __be32 vec_v1_reply_write_unused[] = {
	W(0x11223344), W(1), W(128), W(0), W(0), W(1), W(2), W(0x20b01), W(0),
	W(1), W(0), W(0x20b02), W(0), W(1), W(8192), W(0), W(0), W(0x11223344),
	W(1), W(0), W(0), W(0), W(0), W(70), W(0),
};

/* Version 1 RDMA_NOMSG Reply with 1872 bytes in the Reply chunk */
static const __be32 vec_v1_reply_nomsg[] = {
	W(0x11223344), W(1), W(128), W(1), W(0), W(0), W(1), W(1), W(0x20b04),
	W(1872), W(3), W(2048),
};

/* Version 1 RDMA_MSGP Call (deprecated). rdma_align and rdma_thresh precede the lists. */
static const __be32 vec_v1_msgp[] = {
	W(0x11223344), W(1), W(32), W(2), W(8192), W(1024), W(0), W(0), W(0),
	W(0x11223344), W(0), W(2), W(100003), W(3), W(0), W(0), W(0), W(0),
	W(0),
};

/* Version 1 backward Call (CB_NULL), from server to client */
static const __be32 vec_v1_bc_call[] = {
	W(0x5a5a0001), W(1), W(2), W(0), W(0), W(0), W(0), W(0x5a5a0001), W(0),
	W(2), W(0x40000000), W(1), W(0), W(0), W(0), W(0), W(0),
};

/* ERR_VERS in the layout of version 1 (7 words). As long as our server accepts versions 1 and 2 on
 * a connection, it sends this in answer to a version 3 message.
 */
static const __be32 vec_v1_err_vers_v3[] = {
	W(0x11223344), W(3), W(32), W(4), W(1), W(1), W(2),
};

/* Private data of RFC 8797, with the flag for remote invalidation, and both sizes 4096 */
static const __be32 vec_cm_private[] = {
	W(0xf6ab0e18), W(0x1010303),
};

/* Version 2 RDMA2_MSG Call (NFSv3 READ with one Write chunk). rdma_inv_handle is the handle of this
 * chunk, so the Reply may invalidate it.
 */
static const __be32 vec_v2_msg_inv[] = {
	W(0x11223344), W(2), W(32), W(0), W(0), W(0x40d01), W(0), W(1), W(1),
	W(0x40d01), W(0x10000), W(5), W(0), W(0), W(0), W(0x11223344), W(0),
	W(2), W(100003), W(3), W(6), W(0), W(0), W(0), W(0), W(16),
	W(0xa0a1a2a3), W(0xa4a5a6a7), W(0xa8a9aaab), W(0xacadaeaf), W(0), W(0),
	W(0x10000),
};

/* Version 2 RDMA2_CONNPROP from the client: RBSIZ is 16384, BRS is INLINE */
static const __be32 vec_v2_connprop[] = {
	W(1), W(2), W(32), W(5), W(0), W(2), W(1), W(4), W(16384), W(2), W(4),
	W(1),
};

/* Version 2 RDMA2_ERR_VERS in the layout of draft version-two-09 (with rdma_flags), in answer to a
 * version 3 message. rdma_vers is that of the refused message. This layout is accepted, but never
 * sent: we send ERR_VERS in the layout of version 1 (G-11).
 */
static const __be32 vec_v2_err_vers[] = {
	W(0x11223344), W(3), W(128), W(4), W(1), W(1), W(1), W(2),
};

/* Version 2 RDMA2_ERR_WRITE_RESOURCE: the first Write chunk is too short, because 65536 bytes are
 * needed
 */
static const __be32 vec_v2_write_resource[] = {
	W(0x11223344), W(2), W(128), W(4), W(1), W(7), W(1), W(0x10000),
};

/* Version 2 RDMA2_ERR_REPLY_RESOURCE: 9300 bytes are needed */
static const __be32 vec_v2_reply_resource[] = {
	W(0x11223344), W(2), W(128), W(4), W(1), W(8), W(9300),
};

/* Version 2 RDMA2_CONNPROP answer from the server: it has the XID of the client's CONNPROP,
 * F_RESPONSE is set, and rdma_credit is a grant. RBSIZ is 8192. BRS has no value, which means the
 * default.
 */
static const __be32 vec_v2_connprop_server[] = {
	W(1), W(2), W(64), W(5), W(1), W(2), W(1), W(4), W(8192), W(2), W(0),
};

/* Version 2 RDMA2_MSG Reply that returns a Write chunk of one segment with 65536 bytes */
static const __be32 vec_v2_msg_reply[] = {
	W(0x11223344), W(2), W(64), W(0), W(1), W(0), W(0), W(1), W(1),
	W(0x40d01), W(0x10000), W(5), W(0), W(0), W(0), W(0x11223344), W(1),
	W(0), W(0), W(0), W(0), W(0), W(0), W(0x10000), W(1), W(0x10000),
};

/* Version 2 RDMA2_NOMSG Call with a Position Zero chunk of 6000 bytes */
static const __be32 vec_v2_nomsg_call[] = {
	W(0x11223344), W(2), W(32), W(1), W(0), W(0x30c01), W(1), W(0),
	W(0x30c01), W(6000), W(4), W(256), W(0), W(0), W(0),
};

/* Version 2 error RDMA2_ERR_BAD_XDR, which has no argument */
static const __be32 vec_v2_bad_xdr[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(2),
};

/* Version 2 error RDMA2_ERR_INVAL_HTYPE, which has no argument */
static const __be32 vec_v2_inval_htype[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(3),
};

/* Version 2 error RDMA2_ERR_READ_CHUNKS: at most one Read chunk */
static const __be32 vec_v2_read_chunks[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(4), W(1),
};

/* Version 2 error RDMA2_ERR_WRITE_CHUNKS: at most one Write chunk */
static const __be32 vec_v2_write_chunks[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(5), W(1),
};

/* Version 2 error RDMA2_ERR_SEGMENTS: at most 16 segments in a chunk */
static const __be32 vec_v2_segments[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(6), W(16),
};

/* Version 2 error RDMA2_ERR_SYSTEM, which has no argument */
static const __be32 vec_v2_system[] = {
	W(0x11223344), W(2), W(64), W(4), W(1), W(9),
};

#endif /* RPCRDMA_KUNIT_VECTORS_H */
