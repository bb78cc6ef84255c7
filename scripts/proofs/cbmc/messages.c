// SPDX-License-Identifier: GPL-2.0
/* The decoders of all versions get a message of any length up to SIZE, with any bytes. lists.c has longer lists. */
#include <rpcrdma/rtx.h>

#include "proof.h"

static u32 proof_word(const struct proof_msg *msg, u32 index)
{
	return get_unaligned_be32(msg->pm_data + 4 * index);
}

/* Prove what holds of a header, whatever the verdict is. */
static void proof_header(const struct proof_msg *msg, const struct rpcrdma_hdr *hdr)
{
	if (msg->pm_len < RPCRDMA_FIXED_LEN) {
		PROVE(!hdr->hd_xid && !hdr->hd_vers && !hdr->hd_credit && !hdr->hd_proc && !hdr->hd_length);
		return;
	}
	PROVE(hdr->hd_xid == proof_word(msg, 0) && hdr->hd_vers == proof_word(msg, 1));
	PROVE(hdr->hd_credit == proof_word(msg, 2));
	PROVE(hdr->hd_length <= msg->pm_len);
}

/* Prove what holds of an accepted Call or Reply with lists. */
static void proof_accepted(const struct proof_msg *msg, const struct rpcrdma_hdr *hdr, u32 min)
{
	PROVE(hdr->hd_length >= min && hdr->hd_length + hdr->hd_msg_len == msg->pm_len);
	if (hdr->hd_proc == RPCRDMA1_NOMSG)
		PROVE(!hdr->hd_msg_len && (hdr->hd_lists.ls_call.ck_length >= 8 || hdr->hd_lists.ls_reply.ck_length));
	else
		PROVE(hdr->hd_msg_len >= 8 && hdr->hd_rpc_xid == hdr->hd_xid && !hdr->hd_lists.ls_call.ck_nsegs);
}

/*
 * Version 1, as a responder
 *
 * bound: -DSIZE=56 -DLIMIT=1 --unwind 2 --unwindset rpcrdma_wire_get_reads.0:3,rpcrdma_wire_get_writes.0:3
 * deep: -DSIZE=92 -DLIMIT=2 --unwind 4
 * mutant: s/in->xi_left < RPCRDMA_FIXED_LEN/0/
 */
void prove_v1_call(void)
{
	enum rpcrdma_verdict verdict;
	struct proof_msg msg;
	struct rpcrdma_hdr hdr;

	proof_msg_any(&msg);
	verdict = rpcrdma1_decode_call(msg.pm_data, msg.pm_len, &hdr);
	proof_header(&msg, &hdr);
	PROVE(msg.pm_len >= RPCRDMA1_HDR_MIN || verdict <= RPCRDMA_DISCARD_ERROR || verdict == RPCRDMA_BAD_VERS);
	if (verdict != RPCRDMA_OK && verdict != RPCRDMA_BACKWARD_REPLY)
		return;
	proof_accepted(&msg, &hdr, RPCRDMA1_HDR_MIN);
	PROVE(verdict == RPCRDMA_OK || rpcrdma_lists_empty(&hdr.hd_lists));
}

/*
 * Version 1, as a requester
 *
 * bound: -DSIZE=56 -DLIMIT=1 --unwind 2 --unwindset rpcrdma_wire_get_reads.0:3,rpcrdma_wire_get_writes.0:3
 * deep: -DSIZE=92 -DLIMIT=2 --unwind 4
 * mutant: s/nomsg != !!lists->ls_reply.ck_length/nomsg \&\& !lists->ls_has_reply/
 */
void prove_v1_reply(void)
{
	enum rpcrdma_verdict verdict;
	struct proof_msg msg;
	struct rpcrdma_hdr hdr;

	proof_msg_any(&msg);
	verdict = rpcrdma1_decode_reply(msg.pm_data, msg.pm_len, &hdr);
	proof_header(&msg, &hdr);
	PROVE(verdict != RPCRDMA_BACKWARD_CALL || (hdr.hd_proc == RPCRDMA1_MSG && hdr.hd_msg_len >= 8));
	if (verdict != RPCRDMA_OK)
		return;
	if (hdr.hd_proc == RPCRDMA1_ERROR) {
		PROVE(hdr.hd_err == proof_word(&msg, 4));
		return;
	}
	proof_accepted(&msg, &hdr, RPCRDMA1_HDR_MIN);
	PROVE(!hdr.hd_lists.ls_nreads && !hdr.hd_lists.ls_call.ck_nsegs);
	PROVE((hdr.hd_proc == RPCRDMA1_NOMSG) == !!hdr.hd_lists.ls_reply.ck_length);
}

/* Prove that the error that answers a message can be written, and that no response is answered. */
static void proof_refusal(const struct rpcrdma_hdr *hdr, enum rpcrdma_verdict verdict,
			  const struct rpcrdma2_accept *accept)
{
	struct rpcrdma2_error error;
	u8 buf[RPCRDMA2_ERROR_LEN + 8];

	PROVE(!rpcrdma2_is_grant(hdr, verdict) || hdr->hd_response);
	if (!rpcrdma2_refusal(hdr, verdict, accept, &error))
		return;
	PROVE(verdict >= RPCRDMA_BAD_VERS && !hdr->hd_response);
	PROVE(rpcrdma_encode_error(RPCRDMA_VERS_2, buf, sizeof(buf), hdr, nondet_u32(), &error) > 0);
}

/* Prove what holds of a header of version 2 that is accepted, whether it is a request or a response. */
static void proof_v2(const struct proof_msg *msg, const struct rpcrdma_hdr *hdr)
{
	const struct rpcrdma2_props *props = &hdr->hd_props;
	const struct rpcrdma2_rtx *rtx = &props->vp_rtx;

	if (hdr->hd_proc <= RPCRDMA2_NOMSG) {
		proof_accepted(msg, hdr, RPCRDMA2_HDR_MIN);
		PROVE(!hdr->hd_response || !hdr->hd_lists.ls_nreads);
		PROVE(!hdr->hd_inv_handle || (!hdr->hd_response && hdr->hd_inv_handle == proof_word(msg, 5)));
	} else if (hdr->hd_proc == RPCRDMA2_CONNPROP) {
		PROVE(props->vp_value[RPCRDMA2_PROP_RBSIZ] >= 1024);
		PROVE(props->vp_value[RPCRDMA2_PROP_BRS] <= RPCRDMA2_BRS_GENL);
		PROVE(rtx->xp_call_max <= RPCRDMA2_RTX_MAX_COUNT && !rtx->xp_nsegs == !rtx->xp_seg);
		PROVE(rtx->xp_seg <= 65536 && rtx->xp_head <= props->vp_value[RPCRDMA2_PROP_RBSIZ]);
	} else {
		PROVE(hdr->hd_proc == RPCRDMA2_ERROR && hdr->hd_response);
	}
}

/*
 * Version 2, as a server with any limits
 *
 * bound: -DSIZE=60 -DLIMIT=1 --unwind 2 --unwindset rpcrdma_wire_get_reads.0:3,rpcrdma_wire_get_writes.0:3
 * bound: --unwindset rpcrdma2_decode_connprop.0:6,rpcrdma2_get_prop.0:3,rpcrdma2_props_default.0:3,rpcrdma2_decode_error.0:3,rpcrdma_encode_error.0:3
 * deep: -DSIZE=96 -DLIMIT=2 --unwind 4 --unwindset rpcrdma2_decode_connprop.0:11
 * mutant: s/lists->ls_nwrites > accept->ac_writes/0/
 * mutant: s/rtx->xp_call_max > RPCRDMA2_RTX_COUNT_MAX \|\|/0 ||/
 */
void prove_v2_call(void)
{
	struct rpcrdma2_accept accept;
	enum rpcrdma_verdict verdict;
	struct proof_msg msg;
	struct rpcrdma_hdr hdr;

	accept.ac_inline_only = any_bool();
	proof_msg_any(&msg);
	verdict = rpcrdma2_decode_call(msg.pm_data, msg.pm_len, &accept, &hdr);
	proof_header(&msg, &hdr);
	proof_refusal(&hdr, verdict, &accept);
	if (verdict != RPCRDMA_OK && verdict != RPCRDMA_BACKWARD_REPLY)
		return;
	PROVE(hdr.hd_response == (verdict == RPCRDMA_BACKWARD_REPLY));
	PROVE(hdr.hd_response || accept.ac_inline_only ||
	      (hdr.hd_lists.ls_nreads <= accept.ac_reads && hdr.hd_lists.ls_nwrites <= accept.ac_writes));
	proof_v2(&msg, &hdr);
}

/*
 * Version 2, as a client
 *
 * bound: -DSIZE=60 -DLIMIT=1 --unwind 2 --unwindset rpcrdma_wire_get_reads.0:3,rpcrdma_wire_get_writes.0:3
 * bound: --unwindset rpcrdma2_decode_connprop.0:6,rpcrdma2_get_prop.0:3,rpcrdma2_props_default.0:3,rpcrdma2_decode_error.0:3,rpcrdma_encode_error.0:3
 * deep: -DSIZE=96 -DLIMIT=2 --unwind 4 --unwindset rpcrdma2_decode_connprop.0:11
 * mutant: s/lists->ls_nwrites \|\| lists->ls_has_reply \?/0 ?/
 */
void prove_v2_reply(void)
{
	enum rpcrdma_verdict verdict;
	struct proof_msg msg;
	struct rpcrdma_hdr hdr;

	proof_msg_any(&msg);
	verdict = rpcrdma2_decode_reply(msg.pm_data, msg.pm_len, nondet_u32(), &hdr);
	proof_header(&msg, &hdr);
	proof_refusal(&hdr, verdict, &rpcrdma2_accept_backward);
	if (verdict != RPCRDMA_OK && verdict != RPCRDMA_BACKWARD_CALL)
		return;
	PROVE(hdr.hd_response == (verdict == RPCRDMA_OK));
	PROVE(hdr.hd_response || rpcrdma_lists_empty(&hdr.hd_lists));
	proof_v2(&msg, &hdr);
}

/*
 * The first transmission of a group, with or without an item
 *
 * bound: -DSIZE=92 -DLIMIT=1 --unwind 2 --unwindset rpcrdma_wire_get_reads.0:3,rpcrdma_wire_get_writes.0:3
 * deep: -DSIZE=116 -DLIMIT=2 --unwind 4
 * mutant: s/item->im_position < RPCRDMA_RPC_MIN/0/
 * mutant: s/end > tx.tx_data \|\| tx.tx_data >= len/end > tx.tx_data/
 */
void prove_rtx(void)
{
	struct rpcrdma2_accept accept;
	struct rpcrdma2_transmission tx;
	struct rpcrdma2_item item;
	struct proof_msg msg;
	struct rpcrdma_hdr hdr;

	accept.ac_inline_only = any_bool();
	proof_msg_any(&msg);
	if (!rpcrdma2_peek_rtx(msg.pm_data, msg.pm_len, &tx))
		return;
	PROVE(tx.tx_len == msg.pm_len && tx.tx_short == (tx.tx_len < (tx.tx_first ? 48 : 36)));
	if (rpcrdma2_decode_group(msg.pm_data, msg.pm_len, &accept, &hdr))
		return;
	PROVE(tx.tx_first && rpcrdma2_rtx_item(&tx, &item));
	PROVE(hdr.hd_msg_len == tx.tx_here && tx.tx_here >= 8 && hdr.hd_rpc_xid == hdr.hd_xid);
	PROVE((u64)hdr.hd_length + tx.tx_here <= (tx.tx_data ? tx.tx_data : tx.tx_len) && tx.tx_data < tx.tx_len);
	PROVE(!tx.tx_nitems || (item.im_length && item.im_position >= 8 && item.im_position % 4 == 0));
}
