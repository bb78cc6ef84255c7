/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What two peers announce to each other, normally before the first RPC, and the limits of a
 * connection that follow from it. Version 1 uses RFC 8797 private data, and version 2
 * uses properties. Also how a client interprets the first answer on a connection.
 */
#ifndef RPCRDMA_PROPS_H
#define RPCRDMA_PROPS_H

#include <linux/types.h>
#include <rpcrdma/wire.h>

#define RPCRDMA_CM_PRIVATE_LEN	8u
#define RPCRDMA1_INLINE_DEFAULT	1024u	/* if the peer sent no private data (RFC 8166 3.3.3) */
#define RPCRDMA_INLINE_MIN	1024u
#define RPCRDMA_INLINE_MAX	65536u

/* The value of the property BRS that our client and our server announce: the client accepts
 * callbacks, and the server accepts Replies to callbacks, only without chunks (G-24).
 */
#define RPCRDMA2_OUR_BRS	RPCRDMA2_BRS_INLINE

/**
 * struct rpcrdma_cm_private - the content of RFC 8797 private data
 * @cp_send_size: size of the sender's largest Send in bytes, 1024 to 262144
 * @cp_recv_size: size of the sender's Receive buffers in bytes, 1024 to 262144
 * @cp_remote_inv: the sender's R bit: it supports remote invalidation
 *
 * The sender is the end that sends the private data.
 */
struct rpcrdma_cm_private {
	u32		cp_send_size;
	u32		cp_recv_size;
	bool		cp_remote_inv;
};

/**
 * struct rpcrdma_limits - limits of one connection
 * @lm_inline_send: maximum length in bytes of our Sends, with header. Only Sends with placed data
 *	(rtx.h) may be longer (px_send in plan.h)
 * @lm_inline_recv: maximum length in bytes of the peer's Sends, with header. Our client lowers it
 *	when it finds that a server sends only shorter Replies inline.
 * @lm_peer_recv: size in bytes of the peer's Receives, as announced or by default; only
 *	shown, in debugfs and in a trace event
 * @lm_hdr_extra: number of bytes by which a header is longer than in version 1
 * @lm_brs: the peer's property BRS: which backward Calls, or which Replies to them, the peer
 *	accepts; one of RPCRDMA2_BRS_*
 * @lm_remote_inv: remote invalidation may be used. Version 1: both sides have set the R bit.
 *	Version 2: our side supports it; each Call names the handle that the Reply may
 *	invalidate, or none.
 * @lm_peer_spoke: valid private data or properties were received
 */
struct rpcrdma_limits {
	u32		lm_inline_send;
	u32		lm_inline_recv;
	u32		lm_peer_recv;
	u32		lm_hdr_extra;
	u32		lm_brs;
	bool		lm_remote_inv;
	bool		lm_peer_spoke;
};

/**
 * enum rpcrdma_negotiate - how to go on after a message that came before the version was
 *	settled
 * @RPCRDMA_NEGOTIATE_WAIT: the message is not the answer to our CONNPROP; wait for the answer
 * @RPCRDMA_NEGOTIATE_V1: use version 1 on this connection
 * @RPCRDMA_NEGOTIATE_V2: use version 2 with the properties of the answer
 * @RPCRDMA_NEGOTIATE_V2_PLAIN: use version 2 with default properties
 * @RPCRDMA_NEGOTIATE_NONE: the two sides have no version in common
 */
enum rpcrdma_negotiate {
	RPCRDMA_NEGOTIATE_WAIT,
	RPCRDMA_NEGOTIATE_V1,
	RPCRDMA_NEGOTIATE_V2,
	RPCRDMA_NEGOTIATE_V2_PLAIN,
	RPCRDMA_NEGOTIATE_NONE,
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
enum rpcrdma_negotiate
rpcrdma_negotiate_answer(const struct rpcrdma_hdr *hdr,
			 enum rpcrdma_verdict verdict, u32 xid);

#endif /* RPCRDMA_PROPS_H */
