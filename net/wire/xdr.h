/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For net/wire only: bounded reading and writing of XDR words, and the functions that several files
 * of net/wire share.
 *
 * A cursor (struct rpcrdma_xdr_in or rpcrdma_xdr_out) never moves past the end of the bytes that it
 * was given. So the files that use cursors need not compare each word with the end of the message.
 * Buffers may have any alignment.
 */
#ifndef RPCRDMA_NET_WIRE_XDR_H
#define RPCRDMA_NET_WIRE_XDR_H

#include <linux/errno.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include <rpcrdma/rtx.h>
#include <rpcrdma/wire.h>

#define RPCRDMA_WORD_LEN	4u

/**
 * struct rpcrdma_xdr_in - what is left to read
 * @xi_pos: the next byte
 * @xi_left: bytes from there to the end of the message
 */
struct rpcrdma_xdr_in {
	const u8	*xi_pos;
	u32		xi_left;
};

/**
 * struct rpcrdma_xdr_out - what is left to write
 * @xo_pos: the next byte
 * @xo_left: bytes from there to the end of the buffer
 * @xo_full: there was no room for a word; no later word was written either
 */
struct rpcrdma_xdr_out {
	u8		*xo_pos;
	u32		xo_left;
	bool		xo_full;
};

static inline bool rpcrdma_xdr_skip(struct rpcrdma_xdr_in *in, u32 nbytes)
{
	if (in->xi_left < nbytes)
		return false;
	in->xi_pos += nbytes;
	in->xi_left -= nbytes;
	return true;
}

static inline bool rpcrdma_xdr_get(struct rpcrdma_xdr_in *in, u32 *value)
{
	const u8 *pos = in->xi_pos;

	if (!rpcrdma_xdr_skip(in, RPCRDMA_WORD_LEN))
		return false;
	*value = get_unaligned_be32(pos);
	return true;
}

/* Writes a word. If there is no room, rpcrdma_xdr_done() will return -EMSGSIZE. */
static inline void rpcrdma_xdr_put(struct rpcrdma_xdr_out *out, u32 value)
{
	if (out->xo_left < RPCRDMA_WORD_LEN) {
		out->xo_full = true;
		return;
	}
	put_unaligned_be32(value, out->xo_pos);
	out->xo_pos += RPCRDMA_WORD_LEN;
	out->xo_left -= RPCRDMA_WORD_LEN;
}

/* Returns the number of bytes written to a buffer of @size bytes, or -EMSGSIZE. */
static inline int rpcrdma_xdr_done(const struct rpcrdma_xdr_out *out, u32 size)
{
	return out->xo_full ? -EMSGSIZE : (int)(size - out->xo_left);
}

/* wire/lists.c: what version 1 and later versions have in common */
void rpcrdma_wire_put_fixed(struct rpcrdma_xdr_out *out, u32 xid, u32 vers,
			    u32 credit, u32 proc);
void rpcrdma_wire_put_call(struct rpcrdma_xdr_out *out,
			   const struct rpcrdma_call_out *call);
void rpcrdma_wire_put_returned(struct rpcrdma_xdr_out *out,
			       const struct rpcrdma_lists *lists,
			       const u32 *written, u32 reply_written);

/* wire/form.c: rules that hold in all versions */
bool rpcrdma_form_call_valid(const struct rpcrdma_call_out *call);
bool rpcrdma_form_reply_valid(const struct rpcrdma_reply_out *reply);
bool rpcrdma_form_get_fixed(struct rpcrdma_xdr_in *in,
			    struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma_form_get_lists(const void *buf, u32 len,
					    u32 offset,
					    struct rpcrdma_hdr *hdr);
bool rpcrdma_form_has_msg(const struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma_form_check_call(const struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma_form_check_reply(const struct rpcrdma_hdr *hdr);

/* Writes the prefix of version 2: the four fixed words and rdma_flags. */
static inline void rpcrdma2_put_prefix(struct rpcrdma_xdr_out *out, u32 xid,
				       u32 credit, u32 htype, bool response)
{
	rpcrdma_wire_put_fixed(out, xid, RPCRDMA_VERS_2, credit, htype);
	rpcrdma_xdr_put(out, response ? RPCRDMA2_F_RESPONSE : 0);
}

/* wire/v2.c: what all header types, and those with chunk lists, have in common */
enum rpcrdma_verdict rpcrdma2_decode_prefix(struct rpcrdma_xdr_in *in,
					    unsigned int flags,
					    struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma2_decode_rpc(struct rpcrdma_xdr_in *in,
					 const void *buf, u32 len,
					 struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma2_check_rpc(const struct rpcrdma_hdr *hdr,
					const struct rpcrdma2_accept *accept);

/* wire/v2_error.c */
bool rpcrdma2_decode_v1_error(struct rpcrdma_xdr_in in, unsigned int flags,
			      struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma2_decode_error(struct rpcrdma_xdr_in *in, u32 len,
					   struct rpcrdma_hdr *hdr);

/* wire/v2_props.c */
enum rpcrdma_verdict rpcrdma2_decode_connprop(struct rpcrdma_xdr_in *in,
					      u32 len,
					      struct rpcrdma_hdr *hdr);

#endif /* RPCRDMA_NET_WIRE_XDR_H */
