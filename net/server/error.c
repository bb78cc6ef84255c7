// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: messages of type RDMA_ERROR. The server sends one in answer to a message that it cannot
 * accept, or to a Call whose Reply it cannot send. Version 1 has only ERR_VERS and ERR_CHUNK.
 * Version 2 has more errors, some of which tell the client how to change the Call. An error has the
 * version of the message that it answers. Only ERR_VERS has the same form in both versions. This
 * file encodes and counts errors. Other files decide that something is wrong: server/recvfrom.c if
 * a Call cannot be decoded, read by RDMA or assembled, and server/sendto.c if a result is too large
 * for its Write chunk, or a Reply is too large to be sent.
 */
#include <rpcrdma/counters.h>

#include "svc_rdma.h"
#include "trace.h"

static int svc_rdma_encode_error(struct svc_rdma_send *send,
				 const struct svc_rdma_call *call,
				 const struct rpcrdma2_error *error)
{
	u32 credits = svc_rdma_credits_told(svc_rdma_send_sx(send));
	struct rpcrdma_buf *buf = &send->ss_send.sd_buf;

	trace_svc_rdma_error(svc_rdma_send_sx(send), call, error);
	rpcrdma_count(server_errors);
	return rpcrdma_encode_error(call->sc_vers, buf->bf_data, buf->bf_size,
				    &call->sc_hdr, credits, error);
}

/**
 * svc_rdma_send_refusal - answer a Call with a given error
 * @send: Send context. What it holds is released, and the caller does not own it any more,
 *	even after an error
 * @call: Call
 * @error: the error, with a code of version 2; in version 1 it is sent as ERR_VERS or
 *	ERR_CHUNK
 *
 * Context: process.
 * Return: 0; or a negative errno, and then the caller has to end the connection.
 */
int svc_rdma_send_refusal(struct svc_rdma_send *send,
			  struct svc_rdma_call *call,
			  const struct rpcrdma2_error *error)
{
	svc_rdma_send_reset(send);
	return svc_rdma_send_control(send, call,
				     svc_rdma_encode_error(send, call, error));
}

/**
 * svc_rdma_send_error - answer a Call with the error for a verdict
 * @call: Call; at least its XID and version have been decoded
 * @verdict: what is wrong with the Call
 *
 * If rpcrdma2_refusal() finds that no error is to be sent, this does nothing. If the error cannot
 * be sent, the connection is closed (RFC 8166 4.5.4).
 *
 * Context: process; sleeps.
 */
void svc_rdma_send_error(struct svc_rdma_call *call,
			 enum rpcrdma_verdict verdict)
{
	struct svc_rdma_xprt *sx = call->sc_sx;
	struct rpcrdma2_accept accept;
	struct rpcrdma2_error error;
	struct svc_rdma_send *send;
	int rc = -ENOMEM;

	svc_rdma_negotiate_accept(sx, &accept);
	if (!rpcrdma2_refusal(&call->sc_hdr, verdict, &accept, &error))
		return;
	send = svc_rdma_send_get(sx, GFP_KERNEL);
	if (send)
		rc = svc_rdma_send_refusal(send, call, &error);
	if (rc) {
		trace_svc_rdma_reply_err(sx, rc);
		rpcrdma_conn_fail(&sx->sx_conn, rc);
	}
}
