// SPDX-License-Identifier: GPL-2.0
/*
 * Client: errors with which the client answers messages that it cannot accept.
 *
 * The caller has decided to refuse the message, and this file only sends the answer. If a callback
 * is accepted, but its Reply is too long to be sent, backchannel.c sends the error. Errors
 * that a server sends are handled in reply.c, or in negotiate.c until the version is settled.
 */
#include "trace.h"
#include "xprt_rdma.h"

/**
 * xprt_rdma_reply_refuse - answer a message with an error
 * @xr: transport
 * @hdr: header of the message: a backward Call or, in version 2, another message that is not
 *	valid and has F_RESPONSE clear (version-two 5.3.3; G-12)
 * @error: the error as in version 2; version 1 sends ERR_CHUNK instead
 *
 * No answer is sent if no Send or no send queue entry is free, or if there is no memory for the
 * Send's buffer. If the message was a callback, it then times out at the server.
 *
 * Context: completion queue's workqueue; may sleep.
 */
void xprt_rdma_reply_refuse(struct xprt_rdma *xr,
			    const struct rpcrdma_hdr *hdr,
			    const struct rpcrdma2_error *error)
{
	struct xprt_rdma_send *send;
	int len;

	rpcrdma_count(client_bad_messages);
	if (rpcrdma_vers_has_codes(xr->xr_vers))
		trace_xprt_rdma_refuse(hdr, error->er_code);
	if (xprt_rdma_send_get(xr, &send))
		return;
	len = rpcrdma_encode_error(xr->xr_vers, send->sn_send.sd_buf.bf_data,
				   send->sn_send.sd_buf.bf_size, hdr,
				   XPRT_RDMA_BC_REQUESTS, error);
	if (len < 0 || xprt_rdma_send_post(send, len, NULL) == -ENOBUFS)
		xprt_rdma_send_put(send);
}
