// SPDX-License-Identifier: GPL-2.0
/*
 * Write chunks and the Reply chunk. This file writes results into the client's memory.
 * core/chunk.c decides which result goes to which chunk and what stays in the payload stream. (But
 * results that GSS protects stay there without being shown to core/chunk.c.) core/plan.c, or
 * core/group.c if the Call came as a group (rtx.h), decides whether the Reply chunk is used.
 *
 * Nothing is posted here. The work requests are added to the chain in front of the
 * Reply's Send, so that the data is in place when the client sees the Reply
 * (RFC 8166 3.4.6). The XDR roundup of a result is not written to its Write chunk
 * (RFC 8166 3.4.6.2; G-03).
 */
#include <linux/types.h>
#include <linux/sunrpc/msg_prot.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"

/**
 * svc_rdma_result_payload - xpo_result_payload: assign a result to a Write chunk
 * @rqstp: thread that encodes a Reply
 * @offset: where the result begins in the Reply
 * @length: length of the result in bytes, without roundup
 *
 * If a result does not fit its chunk, the Reply cannot be sent (G-13). This function then only
 * records an error for the first such chunk in sc_error (version-two 5.3.3), and svc_rdma_sendto()
 * sends the error. This function does not fail, because the upper layer would then send an error
 * of its own.
 *
 * Context: process.
 * Return: always 0.
 */
int svc_rdma_result_payload(struct svc_rqst *rqstp, unsigned int offset,
			    unsigned int length)
{
	struct svc_rdma_call *call = rqstp->rq_xprt_ctxt;
	struct rpcrdma2_error *error = &call->sc_error;

	/* Data that GSS protects must stay in the payload stream (RFC 8166 8.2.2.3; G-27) */
	switch (rqstp->rq_cred.cr_flavor) {
	case RPC_AUTH_GSS_KRB5I:
	case RPC_AUTH_GSS_KRB5P:
		return 0;
	}
	if (rpcrdma_payload_assign(&call->sc_hdr.hd_lists, call->sc_payloads,
				   &call->sc_npayloads, offset,
				   length) == -EMSGSIZE && !error->er_code) {
		error->er_code = RPCRDMA2_ERR_WRITE_RESOURCE;
		error->er_arg[0] = call->sc_npayloads + 1;
		error->er_arg[1] = length;
	}
	return 0;
}

static void svc_rdma_count_written(struct svc_rdma_xprt *sx, u32 len)
{
	rpcrdma_count_add(server_rdma_write_bytes, len);
	atomic64_add(len, &sx->sx_stats.vs_write_bytes);
}

/**
 * svc_rdma_write_payloads - append to a chain the RDMA Writes that put results into Write chunks
 * @call: Call that offered the chunks
 * @chain: chain to append to
 * @xdr: the Reply
 * @written: OUT: number of bytes for each chunk of the Write list. The caller has set all entries
 *	to 0; the entries of chunks that are not used stay 0
 *
 * Context: process; sleeps.
 * Return: 0; %-EMSGSIZE if a result is not inside the Reply, or is larger than its chunk; or
 *	another negative errno.
 */
int svc_rdma_write_payloads(struct svc_rdma_call *call,
			    struct svc_rdma_chain *chain,
			    const struct xdr_buf *xdr, u32 *written)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	const struct rpcrdma_payload *payload = call->sc_payloads;
	struct svc_rdma_move move = {
		.mv_dir = DMA_TO_DEVICE, .mv_lists = lists, .mv_xdr = xdr,
	};
	u32 i;
	int rc;

	for (i = 0; i < call->sc_npayloads; i++, payload++) {
		if (!payload->py_length)
			continue;
		if ((u64)payload->py_offset + payload->py_length > xdr->len)
			return -EMSGSIZE;
		move.mv_chunk = &lists->ls_write[i];
		move.mv_offset = payload->py_offset;
		move.mv_len = payload->py_length;
		rc = svc_rdma_chain_add(call->sc_sx, chain, &move);
		if (rc)
			return rc;
		written[i] = payload->py_length;
		svc_rdma_count_written(call->sc_sx, payload->py_length);
	}
	return 0;
}

/**
 * svc_rdma_write_reply - append to a chain the RDMA Writes to the Reply chunk
 * @call: Call that offered the chunk
 * @chain: chain to append to
 * @xdr: the Reply
 * @written: OUT: number of bytes for the chunk
 *
 * The body of the Reply, that is, all of it except the results in Write chunks and their roundup,
 * is written to the Reply chunk.
 *
 * Context: process; sleeps.
 * Return: 0; %-EMSGSIZE if the body is larger than the chunk; or another negative errno.
 */
int svc_rdma_write_reply(struct svc_rdma_call *call,
			 struct svc_rdma_chain *chain,
			 const struct xdr_buf *xdr, u32 *written)
{
	const struct rpcrdma_lists *lists = &call->sc_hdr.hd_lists;
	struct svc_rdma_move move = {
		.mv_dir = DMA_TO_DEVICE, .mv_lists = lists,
		.mv_chunk = &lists->ls_reply, .mv_xdr = xdr,
	};
	u32 pos = 0;
	int rc;

	while (rpcrdma_payload_gap_next(call->sc_payloads, call->sc_npayloads,
					xdr->len, &pos, &move.mv_offset,
					&move.mv_len)) {
		rc = svc_rdma_chain_add(call->sc_sx, chain, &move);
		if (rc)
			return rc;
		move.mv_chunk_offset += move.mv_len;
	}
	*written = move.mv_chunk_offset;
	svc_rdma_count_written(call->sc_sx, *written);
	return 0;
}
