// SPDX-License-Identifier: GPL-2.0
/*
 * What two peers tell each other about themselves, the limits that follow from it, and what a
 * client concludes from the first answer on a connection.
 *
 * In version 1, each peer can send a block of eight bytes in the private data of the connection
 * request or of its answer (RFC 8797). This file does not call the connection manager: it
 * turns bytes into limits. A peer that sends no such block, or only blocks of unknown
 * versions, gets the defaults (RFC 8797 5.1).
 *
 * In version 2, peers exchange properties by messages, which wire/v2_props.c reads and writes.
 * Private data is then ignored (G-19). A client that speaks version 2 begins with a CONNPROP, a
 * message with its properties. The answer settles the version for the life of the connection
 * (version-two 7.3). The caller handles the case that no answer arrives, or that the connection is
 * lost.
 *
 * Layout: RFC 8797 4. Negotiation: version-two 7; G-11, G-17, G-20.
 */

#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <kunit/visibility.h>

#include <rpcrdma/props.h>

#define RPCRDMA_CM_MAGIC	0xf6ab0e18u
#define RPCRDMA_CM_VERSION	1u
#define RPCRDMA_CM_F_REMOTE_INV	0x01u

/* Offsets in the block of private data, in bytes */
#define RPCRDMA_CM_AT_VERSION	4u
#define RPCRDMA_CM_AT_FLAGS	5u
#define RPCRDMA_CM_AT_SEND	6u
#define RPCRDMA_CM_AT_RECV	7u

/* A size is sent in one byte, as the number of kibibytes minus one */
#define RPCRDMA_CM_UNIT		1024u
#define RPCRDMA_CM_SIZE_MAX	(256u * RPCRDMA_CM_UNIT)

/* Rounds down, because it is safe to announce a smaller size than the real one. */
static u8 rpcrdma_props_size_encode(u32 size)
{
	size = clamp(size, RPCRDMA_CM_UNIT, RPCRDMA_CM_SIZE_MAX);
	return size / RPCRDMA_CM_UNIT - 1;
}

static u32 rpcrdma_props_size_decode(u8 byte)
{
	return (byte + 1u) * RPCRDMA_CM_UNIT;
}

/* Returns the size that the peer decodes if we announce @size. */
static u32 rpcrdma_props_size_sent(u32 size)
{
	return rpcrdma_props_size_decode(rpcrdma_props_size_encode(size));
}

/**
 * rpcrdma_props_encode - write our private data
 * @buf: %RPCRDMA_CM_PRIVATE_LEN bytes
 * @priv: what to write; sizes are rounded down to a multiple of 1024
 *
 * Context: any.
 *
 * See RFC 8797 4.
 */
void rpcrdma_props_encode(u8 *buf, const struct rpcrdma_cm_private *priv)
{
	put_unaligned_be32(RPCRDMA_CM_MAGIC, buf);
	buf[RPCRDMA_CM_AT_VERSION] = RPCRDMA_CM_VERSION;
	buf[RPCRDMA_CM_AT_FLAGS] =
		priv->cp_remote_inv ? RPCRDMA_CM_F_REMOTE_INV : 0;
	buf[RPCRDMA_CM_AT_SEND] = rpcrdma_props_size_encode(priv->cp_send_size);
	buf[RPCRDMA_CM_AT_RECV] = rpcrdma_props_size_encode(priv->cp_recv_size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_props_encode);

/**
 * rpcrdma_props_decode - find and read a peer's private data
 * @buf: private data from the connection manager; may be NULL if @len is 0
 * @len: length of @buf in bytes
 * @priv: OUT: what the peer has said, if true is returned
 *
 * The block may be anywhere in @buf, because other layers share the private data, and
 * other data may follow it (RFC 8797 5.2). Reserved flags are ignored.
 *
 * Context: any.
 * Return: false if there is no block of a known version.
 */
bool rpcrdma_props_decode(const u8 *buf, u32 len,
			  struct rpcrdma_cm_private *priv)
{
	for (; len >= RPCRDMA_CM_PRIVATE_LEN; buf++, len--) {
		if (get_unaligned_be32(buf) != RPCRDMA_CM_MAGIC ||
		    buf[RPCRDMA_CM_AT_VERSION] != RPCRDMA_CM_VERSION)
			continue;
		priv->cp_remote_inv =
			buf[RPCRDMA_CM_AT_FLAGS] & RPCRDMA_CM_F_REMOTE_INV;
		priv->cp_send_size =
			rpcrdma_props_size_decode(buf[RPCRDMA_CM_AT_SEND]);
		priv->cp_recv_size =
			rpcrdma_props_size_decode(buf[RPCRDMA_CM_AT_RECV]);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_props_decode);

/**
 * rpcrdma_props_limits - compute the limits of a version 1 connection
 * @ours: our side
 * @peer_data: private data of the peer, or NULL
 * @peer_len: number of bytes in @peer_data
 * @limits: OUT: the limits of this connection, seen from our side
 *
 * The limit of each direction is the smaller of what one side sends and the other
 * receives (RFC 8797 4.2). The peer knows our sizes as multiples of 1024, so the rounded
 * sizes count. The two directions may differ. If the connection stays in version 1, the limits
 * do not change while it lasts (RFC 8166 3.3.2). Remote invalidation is used only if both
 * sides have announced it.
 *
 * Context: any.
 */
void rpcrdma_props_limits(const struct rpcrdma_cm_private *ours,
			  const u8 *peer_data, u32 peer_len,
			  struct rpcrdma_limits *limits)
{
	struct rpcrdma_cm_private peer = {
		.cp_send_size	= RPCRDMA1_INLINE_DEFAULT,
		.cp_recv_size	= RPCRDMA1_INLINE_DEFAULT,
	};

	limits->lm_peer_spoke = rpcrdma_props_decode(peer_data, peer_len,
						     &peer);
	limits->lm_inline_send = min(rpcrdma_props_size_sent(ours->cp_send_size),
				     peer.cp_recv_size);
	limits->lm_inline_recv = min(rpcrdma_props_size_sent(ours->cp_recv_size),
				     peer.cp_send_size);
	limits->lm_peer_recv = peer.cp_recv_size;
	limits->lm_hdr_extra = 0;
	/* Version 1 has no property BRS, which says what callbacks a peer accepts.
	 * Assume that it accepts callbacks without chunks (G-24).
	 */
	limits->lm_brs = RPCRDMA2_BRS_INLINE;
	limits->lm_remote_inv = ours->cp_remote_inv && peer.cp_remote_inv;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_props_limits);

/**
 * rpcrdma2_props_limits - compute the limits of a version 2 connection
 * @ours: our side: the largest Send that we make; the size of our Receives, as the peer knows
 *	it (RBSIZ); whether we support remote invalidation
 * @peer: properties of the peer; NULL if it announced none, and then the defaults hold
 *	(version-two 5.3.4)
 * @limits: OUT: the limits of this connection, seen from our side
 *
 * Whatever the peer announces, we send no more than fits our buffers (version-two 11.1;
 * G-18). Remote invalidation may be used if we support it: version 2 has no property for it,
 * because a Call names the handle that its Reply may invalidate (version-two 8.4).
 *
 * Context: any.
 */
void rpcrdma2_props_limits(const struct rpcrdma_cm_private *ours,
			   const struct rpcrdma2_props *peer,
			   struct rpcrdma_limits *limits)
{
	struct rpcrdma2_props silent;

	limits->lm_peer_spoke = peer;
	if (!peer) {
		rpcrdma2_props_default(&silent);
		peer = &silent;
	}
	limits->lm_inline_send = min3(ours->cp_send_size,
				      peer->vp_value[RPCRDMA2_PROP_RBSIZ],
				      RPCRDMA_INLINE_MAX);
	limits->lm_inline_recv = ours->cp_recv_size;
	limits->lm_peer_recv = peer->vp_value[RPCRDMA2_PROP_RBSIZ];
	limits->lm_hdr_extra = RPCRDMA2_HDR_MIN - RPCRDMA1_HDR_MIN;
	limits->lm_brs = peer->vp_value[RPCRDMA2_PROP_BRS];
	limits->lm_remote_inv = ours->cp_remote_inv;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_props_limits);

/**
 * rpcrdma_negotiate_answer - what does a message mean for the negotiation?
 * @hdr: its header, as decoded with %RPCRDMA2_NEGOTIATING
 * @verdict: verdict of the decoder
 * @xid: XID of our CONNPROP
 *
 * A peer that refuses our CONNPROP with an error of version 2 other than ERR_VERS speaks version 2,
 * but this answer has no properties. So the defaults apply, unless the peer has announced its
 * properties before (G-17). The same holds if the answer is a CONNPROP with bad properties; the
 * credits of that answer are still valid, see rpcrdma2_is_grant(). A truncated error is still an
 * error (G-14). If an ERR_VERS lacks its range of versions, version 1 is tried. Otherwise the range
 * must include version 1; if it does not, the connection has to be closed (version-two 7.2).
 *
 * Context: any.
 * Return: how to go on.
 */
enum rpcrdma_negotiate
rpcrdma_negotiate_answer(const struct rpcrdma_hdr *hdr,
			 enum rpcrdma_verdict verdict, u32 xid)
{
	if (!hdr->hd_response || hdr->hd_xid != xid)
		return RPCRDMA_NEGOTIATE_WAIT;

	switch (hdr->hd_proc) {
	case RPCRDMA2_CONNPROP:
		return verdict == RPCRDMA_OK ? RPCRDMA_NEGOTIATE_V2 :
					       RPCRDMA_NEGOTIATE_V2_PLAIN;
	case RPCRDMA2_ERROR:
		if (hdr->hd_err == RPCRDMA2_ERR_VERS)
			return verdict != RPCRDMA_OK ||
			       (hdr->hd_err_arg[0] <= RPCRDMA_VERS_1 &&
				hdr->hd_err_arg[1] >= RPCRDMA_VERS_1) ?
			       RPCRDMA_NEGOTIATE_V1 : RPCRDMA_NEGOTIATE_NONE;
		/* ERR_CHUNK comes from a version 1 server that did not check rdma_vers */
		return hdr->hd_v1_error ? RPCRDMA_NEGOTIATE_V1 :
					  RPCRDMA_NEGOTIATE_V2_PLAIN;
	default:
		/* This is a Reply, although no Call was sent. */
		return RPCRDMA_NEGOTIATE_WAIT;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_negotiate_answer);
