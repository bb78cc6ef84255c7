// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2 properties: their table with limits and defaults, and
 * the message that announces them.
 *
 * Read the comment at the top of wire/v2.c first.
 *
 * Layouts: Documentation/wire.rst;
 * draft-cel-nfsv4-rpcrdma-version-two-09 section 4.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/* Length and limits of the property RTX, see struct rpcrdma2_rtx */
#define RPCRDMA2_RTX_LEN	28u
#define RPCRDMA2_RTX_COUNT_MAX	256u
#define RPCRDMA2_RTX_MSG_LOW	1024u
#define RPCRDMA2_RTX_HEAD_LOW	256u
#define RPCRDMA2_RTX_HEAD_HIGH	65532u
#define RPCRDMA2_RTX_SEG_LOW	512u
#define RPCRDMA2_RTX_SEG_HIGH	65536u

/*
 * The properties of one word: one row for each value of enum rpcrdma2_prop. The property
 * RTX has several words, and functions of its own.
 */
static const struct {
	u32	which;
	u32	fallback;
	u32	min;
	u32	max;
} rpcrdma2_prop_rows[RPCRDMA2_NPROPS] = {
	[RPCRDMA2_PROP_RBSIZ] = {
		.which = RPCRDMA2_PROPID_RBSIZ, .fallback = 4096,
		.min = 1024, .max = U32_MAX,
	},
	[RPCRDMA2_PROP_BRS] = {
		.which = RPCRDMA2_PROPID_BRS, .fallback = RPCRDMA2_BRS_INLINE,
		.min = RPCRDMA2_BRS_NONE, .max = RPCRDMA2_BRS_GENL,
	},
};

/**
 * rpcrdma2_props_default - set all properties to the values that hold if none are announced
 * @props: OUT: the defaults
 *
 * Context: any.
 */
void rpcrdma2_props_default(struct rpcrdma2_props *props)
{
	u32 i;

	memset(props, 0, sizeof(*props));
	for (i = 0; i < RPCRDMA2_NPROPS; i++)
		props->vp_value[i] = rpcrdma2_prop_rows[i].fallback;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_props_default);

static bool rpcrdma2_prop_valid(u32 index, u32 value)
{
	return value >= rpcrdma2_prop_rows[index].min &&
	       value <= rpcrdma2_prop_rows[index].max;
}

/* Are the words of RTX valid together, and with RBSIZ of the same set (RTX-33)? */
static bool rpcrdma2_rtx_valid(const struct rpcrdma2_props *props)
{
	const struct rpcrdma2_rtx *rtx = &props->vp_rtx;

	if (rtx->xp_call_max > RPCRDMA2_RTX_COUNT_MAX ||
	    rtx->xp_reply_max > RPCRDMA2_RTX_COUNT_MAX)
		return false;
	if (rtx->xp_call_max ? rtx->xp_msg_max < RPCRDMA2_RTX_MSG_LOW :
			       rtx->xp_msg_max)
		return false;
	if (!rtx->xp_nsegs)
		return !rtx->xp_head && !rtx->xp_seg;
	return rtx->xp_head >= RPCRDMA2_RTX_HEAD_LOW &&
	       rtx->xp_head <= RPCRDMA2_RTX_HEAD_HIGH &&
	       rtx->xp_head % RPCRDMA_WORD_LEN == 0 &&
	       rtx->xp_seg >= RPCRDMA2_RTX_SEG_LOW &&
	       rtx->xp_seg <= RPCRDMA2_RTX_SEG_HIGH &&
	       !(rtx->xp_seg & (rtx->xp_seg - 1)) &&
	       rtx->xp_head + (u64)rtx->xp_seg * rtx->xp_nsegs <=
	       props->vp_value[RPCRDMA2_PROP_RBSIZ];
}

/**
 * rpcrdma2_encode_connprop - write an RDMA2_CONNPROP
 * @buf: buffer to write to
 * @size: size of @buf in bytes
 * @xid: in an answer, the XID of the CONNPROP that is answered; otherwise any XID
 * @credit: in an answer, credits granted; otherwise, credits requested; 0 is sent as 1
 * @response: the message is an answer
 * @props: all our properties, including those with default values (version-two 5.3.4);
 *	RTX is left out if it is all zero
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: number of bytes written, far below %RPCRDMA2_CONNPROP_MAX; -EMSGSIZE if
 *	@size is too small; -EINVAL if rpcrdma2_decode_connprop() would reject @props.
 *
 * See version-two 5.3.4, 7; G-10.
 */
int rpcrdma2_encode_connprop(void *buf, u32 size, u32 xid, u32 credit,
			     bool response,
			     const struct rpcrdma2_props *props)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	const struct rpcrdma2_rtx *rtx = &props->vp_rtx;
	bool has_rtx;
	u32 i;

	/* If these words are 0, the other three of a valid RTX are 0, too (RTX-103) */
	has_rtx = rtx->xp_flags | rtx->xp_call_max | rtx->xp_reply_max |
		  rtx->xp_nsegs;
	rpcrdma2_put_prefix(&out, xid, credit, RPCRDMA2_CONNPROP, response);
	rpcrdma_xdr_put(&out, RPCRDMA2_NPROPS + has_rtx);
	for (i = 0; i < RPCRDMA2_NPROPS; i++) {
		if (!rpcrdma2_prop_valid(i, props->vp_value[i]))
			return -EINVAL;
		rpcrdma_xdr_put(&out, rpcrdma2_prop_rows[i].which);
		rpcrdma_xdr_put(&out, RPCRDMA_WORD_LEN);
		rpcrdma_xdr_put(&out, props->vp_value[i]);
	}
	if (!rpcrdma2_rtx_valid(props))
		return -EINVAL;
	if (has_rtx) {
		rpcrdma_xdr_put(&out, RPCRDMA2_PROPID_RTX);
		rpcrdma_xdr_put(&out, RPCRDMA2_RTX_LEN);
		rpcrdma_xdr_put(&out, rtx->xp_flags);
		rpcrdma_xdr_put(&out, rtx->xp_call_max);
		rpcrdma_xdr_put(&out, rtx->xp_reply_max);
		rpcrdma_xdr_put(&out, rtx->xp_msg_max);
		rpcrdma_xdr_put(&out, rtx->xp_head);
		rpcrdma_xdr_put(&out, rtx->xp_seg);
		rpcrdma_xdr_put(&out, rtx->xp_nsegs);
	}
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_connprop);

static bool rpcrdma2_get_prop(struct rpcrdma_xdr_in *in,
			      struct rpcrdma2_props *props)
{
	struct rpcrdma2_rtx *rtx = &props->vp_rtx;
	struct rpcrdma_xdr_in data;
	u32 which, len, pad, i;

	if (!rpcrdma_xdr_get(in, &which) || !rpcrdma_xdr_get(in, &len))
		return false;
	data = *in;
	/* Even an unknown property has to be complete (version-two 4.1) */
	pad = (RPCRDMA_WORD_LEN - len % RPCRDMA_WORD_LEN) % RPCRDMA_WORD_LEN;
	if (!rpcrdma_xdr_skip(in, len) || !rpcrdma_xdr_skip(in, pad))
		return false;

	for (i = 0; i < RPCRDMA2_NPROPS; i++)
		if (rpcrdma2_prop_rows[i].which == which)
			break;
	if (i == RPCRDMA2_PROP_RTX && which != RPCRDMA2_PROPID_RTX) {
		props->vp_unknown++;
		return true;
	}
	if (props->vp_given & (1u << i))
		return false;
	props->vp_given |= 1u << i;
	if (!len)
		return true;
	if (i < RPCRDMA2_NPROPS)
		return len == RPCRDMA_WORD_LEN &&
		       rpcrdma_xdr_get(&data, &props->vp_value[i]) &&
		       rpcrdma2_prop_valid(i, props->vp_value[i]);
	/* rpcrdma2_rtx_valid() checks the values later, when RBSIZ is known */
	return len == RPCRDMA2_RTX_LEN &&
	       rpcrdma_xdr_get(&data, &rtx->xp_flags) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_call_max) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_reply_max) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_msg_max) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_head) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_seg) &&
	       rpcrdma_xdr_get(&data, &rtx->xp_nsegs);
}

/**
 * rpcrdma2_decode_connprop - parse what follows the prefix of an RDMA2_CONNPROP
 * @in: cursor after the prefix
 * @len: length of the message in bytes
 * @hdr: IN: the prefix; OUT: the properties of the message or, if its set is bad, default values
 *
 * Context: any.
 * Return: %RPCRDMA_OK or %RPCRDMA_BAD_PROP.
 *
 * See version-two 5.3.4; RTX-31, RTX-33 of rtx.rst.
 */
enum rpcrdma_verdict rpcrdma2_decode_connprop(struct rpcrdma_xdr_in *in,
					      u32 len,
					      struct rpcrdma_hdr *hdr)
{
	u32 i, count;
	bool good;

	rpcrdma2_props_default(&hdr->hd_props);
	/* Each property takes at least 8 bytes, so the loop ends at the end of the
	 * message, even if the count is too large.
	 */
	good = rpcrdma_xdr_get(in, &count);
	for (i = 0; good && i < count; i++)
		good = rpcrdma2_get_prop(in, &hdr->hd_props);
	if (!good || in->xi_left || !rpcrdma2_rtx_valid(&hdr->hd_props)) {
		/* A bad set is not used at all (G-18) */
		rpcrdma2_props_default(&hdr->hd_props);
		return RPCRDMA_BAD_PROP;
	}
	hdr->hd_length = len;
	return RPCRDMA_OK;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_decode_connprop);
