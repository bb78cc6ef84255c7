/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two peers tell each other about themselves before the first RPC, folded
 * into the limits that hold for a connection: RFC 8797 private data in version
 * 1, properties in version 2.
 */
#ifndef RPCRDMA_PROPS_H
#define RPCRDMA_PROPS_H

#include <linux/types.h>
#include <rpcrdma/wire.h>

#define RPCRDMA_CM_PRIVATE_LEN	8u
#define RPCRDMA1_INLINE_DEFAULT	1024u	/* peer said nothing (RFC 8166 3.3.3) */
#define RPCRDMA_INLINE_MIN	1024u
#define RPCRDMA_INLINE_MAX	65536u

/* What either side announces: backward Calls and Replies have no chunks (G-24) */
#define RPCRDMA2_OUR_BRS	RPCRDMA2_BRS_INLINE

/**
 * struct rpcrdma_cm_private - the content of RFC 8797 private data
 * @cp_send_size: largest Send the peer makes, bytes, 1024 to 262144
 * @cp_recv_size: the peer's Receive buffers, bytes, 1024 to 262144
 * @cp_remote_inv: the peer's R bit: remote invalidation is supported
 */
struct rpcrdma_cm_private {
	u32		cp_send_size;
	u32		cp_recv_size;
	bool		cp_remote_inv;
};

/**
 * struct rpcrdma_limits - what holds on one connection
 * @lm_inline_send: largest message we may Send, header included, bytes
 * @lm_inline_recv: largest message the peer may Send us, bytes
 * @lm_peer_recv: bytes of the peer's Receives as it has announced them, or by
 *	default; for people to look at
 * @lm_hdr_extra: bytes a header is longer than in version 1
 * @lm_brs: backward Calls the peer takes: one of RPCRDMA2_BRS_*
 * @lm_our_brs: what we announce, likewise
 * @lm_remote_inv: both sides' R bits. Version 2: our device can take part; each
 *	Call says whether the peer's can
 * @lm_peer_spoke: valid private data, or properties, were received
 */
struct rpcrdma_limits {
	u32		lm_inline_send;
	u32		lm_inline_recv;
	u32		lm_peer_recv;
	u32		lm_hdr_extra;
	u32		lm_brs;
	u32		lm_our_brs;
	bool		lm_remote_inv;
	bool		lm_peer_spoke;
};

void rpcrdma_props_encode(u8 *buf, const struct rpcrdma_cm_private *priv);
bool rpcrdma_props_decode(const u8 *buf, u32 len,
			  struct rpcrdma_cm_private *priv);
void rpcrdma_props_limits(const struct rpcrdma_cm_private *ours,
			  const u8 *peer_data, u32 peer_len,
			  struct rpcrdma_limits *limits);
void rpcrdma2_props_limits(const struct rpcrdma_cm_private *ours,
			   const struct rpcrdma2_props *peer,
			   struct rpcrdma_limits *limits);
bool rpcrdma2_propsubset_has(const u32 *words, u32 nwords, u32 index);

#endif /* RPCRDMA_PROPS_H */
