// SPDX-License-Identifier: GPL-2.0
/*
 * Negotiation: what a client makes of the first answer on a connection.
 *
 * A client that speaks version 2 begins with a CONNPROP. What comes back
 * settles the version, for as long as the connection lives (version-two 7.3). That
 * nothing comes back, or that the connection is lost, is for whoever waits.
 *
 * See version-two 7; G-11, G-17, G-20.
 */

#include <linux/export.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/negotiate.h>

static enum rpcrdma_negotiate
rpcrdma_negotiate_error(const struct rpcrdma_hdr *hdr)
{
	if (hdr->hd_err == RPCRDMA2_ERR_VERS)
		return rpcrdma2_fallback_vers(hdr) ? RPCRDMA_NEGOTIATE_V1 :
						     RPCRDMA_NEGOTIATE_NONE;
	/* ERR_CHUNK: a server that has not looked at the version */
	return hdr->hd_v1_error ? RPCRDMA_NEGOTIATE_V1 :
				  RPCRDMA_NEGOTIATE_V2_PLAIN;
}

/**
 * rpcrdma_negotiate_answer - what does a message mean for the negotiation?
 * @hdr: its header, as decoded with %RPCRDMA2_NEGOTIATING
 * @verdict: what was made of it
 * @xid: XID of our CONNPROP
 *
 * Who refuses our CONNPROP with an error of version 2 speaks version 2, and
 * knows nothing of our properties, nor we of its (G-17). An answer whose
 * properties are bad says as much, and its credits count; rpcrdma2_is_grant()
 * knows. An error that came in part is an error all the same (G-14); if it is
 * ERR_VERS without its range, version 1 is what remains to be tried.
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
		if (verdict == RPCRDMA_OK)
			return rpcrdma_negotiate_error(hdr);
		return hdr->hd_err == RPCRDMA2_ERR_VERS ?
		       RPCRDMA_NEGOTIATE_V1 : RPCRDMA_NEGOTIATE_V2_PLAIN;
	default:
		/* A Reply to no Call */
		return RPCRDMA_NEGOTIATE_WAIT;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_negotiate_answer);
