// SPDX-License-Identifier: GPL-2.0
/*
 * RPC-over-RDMA version 2 properties: the table of them, their defaults, and
 * the message that announces them.
 *
 * A part of wire/v2.c: read that file's opening comment first. wire/form.c calls this
 * file, because every decoded header has properties, at least the defaults.
 *
 * Layouts: Documentation/wire.rst;
 * draft-cel-nfsv4-rpcrdma-version-two-09 section 4.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/wire.h>

#include "xdr.h"

/*
 * The properties, one row for each member of enum rpcrdma2_prop. Every property defined so
 * far is one word.
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
 * rpcrdma2_props_default - get the properties of a peer that has announced none
 * @props: OUT: the defaults
 *
 * Context: any.
 */
void rpcrdma2_props_default(struct rpcrdma2_props *props)
{
	u32 i;

	for (i = 0; i < RPCRDMA2_NPROPS; i++)
		props->vp_value[i] = rpcrdma2_prop_rows[i].fallback;
	props->vp_given = 0;
	props->vp_unknown = 0;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_props_default);

static bool rpcrdma2_prop_valid(u32 index, u32 value)
{
	return value >= rpcrdma2_prop_rows[index].min &&
	       value <= rpcrdma2_prop_rows[index].max;
}

/**
 * rpcrdma2_encode_connprop - write an RDMA2_CONNPROP
 * @buf: buffer to write to
 * @size: bytes of @buf
 * @xid: in an answer, the XID of the CONNPROP that is answered; otherwise any XID
 * @credit: in an answer, credits granted; otherwise, credits requested; 0 is sent as 1
 * @response: the message is an answer
 * @props: all our properties, including those with default values (version-two 5.3.4)
 *
 * Context: any. What is in @buf after an error is unspecified.
 * Return: number of bytes written, far below %RPCRDMA2_CONNPROP_MAX; -EMSGSIZE if
 *	@size is too small; -EINVAL if a value is outside the range that a peer accepts.
 *
 * See version-two 5.3.4, 7; G-10.
 */
int rpcrdma2_encode_connprop(void *buf, u32 size, u32 xid, u32 credit,
			     bool response,
			     const struct rpcrdma2_props *props)
{
	struct rpcrdma_xdr_out out = { .xo_pos = buf, .xo_left = size };
	u32 i;

	rpcrdma2_put_prefix(&out, xid, RPCRDMA_VERS_2, credit,
			    RPCRDMA2_CONNPROP, response);
	rpcrdma_xdr_put(&out, RPCRDMA2_NPROPS);
	for (i = 0; i < RPCRDMA2_NPROPS; i++) {
		if (!rpcrdma2_prop_valid(i, props->vp_value[i]))
			return -EINVAL;
		rpcrdma_xdr_put(&out, rpcrdma2_prop_rows[i].which);
		rpcrdma_xdr_put(&out, RPCRDMA_WORD_LEN);
		rpcrdma_xdr_put(&out, props->vp_value[i]);
	}
	return rpcrdma_xdr_done(&out, size);
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma2_encode_connprop);

static bool rpcrdma2_get_prop(struct rpcrdma_xdr_in *in,
			      struct rpcrdma2_props *props)
{
	u32 which, len, pad, i, value;
	struct rpcrdma_xdr_in data;

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
	if (i == RPCRDMA2_NPROPS) {
		props->vp_unknown++;
		return true;
	}
	if (props->vp_given & (1u << i))
		return false;
	props->vp_given |= 1u << i;
	if (!len)
		return true;
	if (len != RPCRDMA_WORD_LEN || !rpcrdma_xdr_get(&data, &value) ||
	    !rpcrdma2_prop_valid(i, value))
		return false;
	props->vp_value[i] = value;
	return true;
}

/**
 * rpcrdma2_decode_connprop - ht_decode of RDMA2_CONNPROP
 * @in: cursor behind the prefix
 * @buf: the message
 * @len: bytes of the message
 * @hdr: IN: the prefix; OUT: the properties; if the set is bad, all have default values
 *
 * Context: any.
 * Return: %RPCRDMA_OK or %RPCRDMA_BAD_PROP.
 */
enum rpcrdma_verdict rpcrdma2_decode_connprop(struct rpcrdma_xdr_in *in,
					      const void *buf, u32 len,
					      struct rpcrdma_hdr *hdr)
{
	u32 i, count;
	bool good;

	/* Every property takes some bytes, so the loop ends even if the count is
	 * too large
	 */
	good = rpcrdma_xdr_get(in, &count);
	for (i = 0; good && i < count; i++)
		good = rpcrdma2_get_prop(in, &hdr->hd_props);
	if (!good || in->xi_left) {
		/* A bad set is not used at all (G-18) */
		rpcrdma2_props_default(&hdr->hd_props);
		return RPCRDMA_BAD_PROP;
	}
	hdr->hd_length = len;
	return RPCRDMA_OK;
}
