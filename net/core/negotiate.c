// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation: what a client concludes from the first answer on a connection.
 *
 * A client that speaks version 2 begins with a CONNPROP, a message with its properties. The answer
 * settles the version for the life of the connection (version-two 7.3). The caller handles the case
 * that no answer arrives, or that the connection is lost.
 *
 * See version-two 7; G-11, G-17, G-20.
 */

#include <linux/export.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/negotiate.h>

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
			       (hdr->hd_vers_low <= RPCRDMA_VERS_1 &&
				hdr->hd_vers_high >= RPCRDMA_VERS_1) ?
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
