// SPDX-License-Identifier: GPL-2.0
/*
 * Version 1 messages. The decoders get any bytes. If one end encodes a message, the other end must
 * decode the same values.
 *
 * Lists that could be parsed are walked. An accepted Call is encoded again, and the lists are
 * decoded again. Then a Reply to the Call is encoded, and decoded as by a requester. An accepted
 * Reply is compared with a Call that it may belong to.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <linux/unaligned.h>
#include <rpcrdma/chunk.h>
#include <rpcrdma/vers.h>
#include <rpcrdma/wire.h>

#include "fuzz.h"

/* --- an accepted Call is answered --- */

/* The requester reads the answer. */
static void fuzz_answer_read(const struct fuzz_call *call, const u8 *msg,
			     u32 len, const struct rpcrdma_reply_out *out)
{
	u32 i, reply_written, written[RPCRDMA_MAX_CHUNKS];
	const struct rpcrdma_call_out *sent = &call->fc_out;
	static struct rpcrdma_hdr hdr;

	CHECK(rpcrdma1_decode_reply(msg, len, &hdr) == RPCRDMA_OK);
	CHECK(hdr.hd_xid == out->ro_xid && hdr.hd_proc == out->ro_proc);
	CHECK(hdr.hd_credit == (out->ro_credit ? out->ro_credit : 1));
	CHECK(hdr.hd_length == rpcrdma_reply_len(RPCRDMA_VERS_1, out->ro_lists));
	CHECK(hdr.hd_lists.ls_nwrites == sent->ko_nwrites);
	CHECK(hdr.hd_lists.ls_has_reply == !!sent->ko_reply);
	CHECK(rpcrdma_lists_check_reply(&hdr, sent->ko_write, sent->ko_nwrites,
					sent->ko_reply, written,
					&reply_written) == RPCRDMA_OK);
	CHECK(reply_written == out->ro_reply_written);
	for (i = 0; i < sent->ko_nwrites; i++) {
		CHECK(written[i] == out->ro_written[i]);
		fuzz_chunk_filled(&hdr.hd_lists, &hdr.hd_lists.ls_write[i],
				  &sent->ko_write[i], written[i]);
	}
	if (sent->ko_reply)
		fuzz_chunk_filled(&hdr.hd_lists, &hdr.hd_lists.ls_reply,
				  sent->ko_reply, reply_written);
}

/* Returns a length of at most @most, or, in a few cases, @most + 1. */
static u32 fuzz_used(struct fuzz_in *in, u32 most)
{
	u32 kind = fuzz_u8(in);

	if (kind > 250 && most < U32_MAX)
		return most + 1;
	return kind > 128 ? most : kind < most ? kind : most / 2;
}

/* The responder answers the Call @hdr in one of several ways. */
static void fuzz_answer(const struct rpcrdma_hdr *hdr, struct fuzz_call *call,
			struct fuzz_in *in)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	u32 i, size, written[RPCRDMA_MAX_CHUNKS];
	u32 len = rpcrdma_reply_len(RPCRDMA_VERS_1, lists);
	struct rpcrdma_reply_out out = {
		.ro_xid = hdr->hd_xid, .ro_credit = fuzz_u8(in),
		.ro_proc = fuzz_u8(in) % 4, .ro_lists = lists,
		.ro_written = written,
	};
	bool valid = out.ro_proc <= RPCRDMA1_NOMSG;
	u8 *buf, *msg;
	int rc;

	if ((out.ro_proc == RPCRDMA1_NOMSG) != (fuzz_u8(in) % 32 == 1))
		out.ro_reply_written = fuzz_used(in, lists->ls_reply.ck_length);
	if (out.ro_reply_written > lists->ls_reply.ck_length ||
	    !out.ro_reply_written != (out.ro_proc == RPCRDMA1_MSG))
		valid = false;
	for (i = 0; i < lists->ls_nwrites; i++) {
		written[i] = fuzz_used(in, lists->ls_write[i].ck_length);
		valid = valid && written[i] <= lists->ls_write[i].ck_length;
	}

	size = fuzz_u8(in) % 8 == 1 ? fuzz_u8(in) % len : len;
	buf = malloc(size);
	rc = rpcrdma_encode_reply(1, buf, size, &out);
	if (!valid) {
		CHECK(rc == -EINVAL);
	} else if (size < len) {
		CHECK(rc == -EMSGSIZE);
	} else {
		CHECK(rc == (int)len);
		msg = fuzz_msg_make(buf, &len, out.ro_xid, out.ro_proc,
				    RPCRDMA_RPC_REPLY);
		fuzz_answer_read(call, msg, len, &out);
		free(msg);
	}
	free(buf);
}

/*
 * Encode the header of an accepted Call again. Its lists must be the same after that, and if the
 * Read list is sorted as the encoder sorts it, their bytes must be the same, too. Then answer the
 * Call.
 */
static void fuzz_call_use(const struct rpcrdma_hdr *hdr, const u8 *msg,
			  u32 begin, struct fuzz_in *in)
{
	static struct rpcrdma_lists again;
	static struct fuzz_call call;
	u32 i, len, offset = RPCRDMA_FIXED_LEN;
	bool empty;
	u8 *buf;
	int rc;

	fuzz_call_copy(&call, hdr);
	CHECK(rpcrdma_lists_single_handle(&hdr->hd_lists) ==
	      fuzz_single_handle(&call));
	empty = hdr->hd_lists.ls_has_reply && !call.fc_reply.co_nsegs;
	for (i = 0; i < call.fc_out.ko_nwrites; i++)
		empty = empty || !call.fc_write[i].co_nsegs;

	len = RPCRDMA_FIXED_LEN + fuzz_call_len(&call.fc_out);
	buf = malloc(len);
	rc = rpcrdma_encode_call(1, buf, len, &call.fc_out);
	if (empty) {
		/* An empty chunk is accepted from others, but never sent (G-05, V1-WRC-17) */
		CHECK(rc == -EINVAL);
	} else {
		CHECK(rc == (int)len);
		CHECK(len == hdr->hd_length - begin + RPCRDMA_FIXED_LEN);
		CHECK(rpcrdma_wire_decode_lists(buf, len, &offset, &again) ==
		      RPCRDMA_OK);
		CHECK(offset == len);
		fuzz_lists_same(&hdr->hd_lists, &again);
		if (fuzz_reads_sorted(msg, begin))
			CHECK(!memcmp(buf + RPCRDMA_FIXED_LEN, msg + begin,
				      len - RPCRDMA_FIXED_LEN));
	}
	free(buf);
	fuzz_answer(hdr, &call, in);
}

/* --- any header, whatever the verdict --- */

static void fuzz_hdr_check(const struct rpcrdma_hdr *hdr, const u8 *msg,
			   u32 len)
{
	u32 vers;

	CHECK(rpcrdma_wire_peek_vers(msg, len, &vers) ==
	      (len >= RPCRDMA_FIXED_LEN));
	if (len < RPCRDMA_FIXED_LEN) {
		/* Nothing is read from a message without the four fixed words (G-10). */
		CHECK(!hdr->hd_xid && !hdr->hd_vers && !hdr->hd_credit);
		CHECK(!hdr->hd_proc && !hdr->hd_length && !hdr->hd_msg_len);
		return;
	}
	CHECK(hdr->hd_xid == fuzz_word(msg, 0));
	CHECK(hdr->hd_vers == fuzz_word(msg, 1) && hdr->hd_vers == vers);
	CHECK(hdr->hd_credit == fuzz_word(msg, 2));
	CHECK(hdr->hd_proc == fuzz_word(msg, 3) ||
	      (hdr->hd_proc == RPCRDMA1_MSG &&
	       fuzz_word(msg, 3) == RPCRDMA1_MSGP));

	/* If hd_length is set, the decoder has found the end of the lists */
	if (!hdr->hd_length || hdr->hd_proc == RPCRDMA1_ERROR)
		return;
	CHECK(hdr->hd_length + hdr->hd_msg_len == len);
	CHECK(hdr->hd_msg_len < 4 ||
	      hdr->hd_rpc_xid == get_unaligned_be32(msg + hdr->hd_length));
	CHECK(hdr->hd_msg_len < 8 ||
	      hdr->hd_rpc_type == get_unaligned_be32(msg + hdr->hd_length + 4));
	fuzz_lists_walk(&hdr->hd_lists);
}

/* Returns where the lists of a message begin, if it has any. */
static u32 fuzz_lists_begin(const u8 *msg, u32 len)
{
	bool msgp = len >= RPCRDMA_FIXED_LEN &&
		    fuzz_word(msg, 3) == RPCRDMA1_MSGP;

	return RPCRDMA_FIXED_LEN + (msgp ? 8 : 0);
}

/*
 * Target v1-call: any bytes, received by a responder
 *
 * Covers: V1-HDR-22 V1-HDR-23 V1-CHK-14 V1-ERR-01 V1-ERR-14 V1-ERR-15
 */
void fuzz_v1_call(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;
	u8 *msg = fuzz_exact(data, size);
	u32 begin = fuzz_lists_begin(msg, size);

	memset(&hdr, 0xa5, sizeof(hdr));
	verdict = rpcrdma1_decode_call(msg, size, &hdr);
	fuzz_hdr_check(&hdr, msg, size);

	/* A message shorter than the header of a Call gets no ERR_CHUNK (G-10). */
	CHECK(size >= RPCRDMA1_HDR_MIN || verdict <= RPCRDMA_DISCARD_ERROR ||
	      (size >= RPCRDMA_FIXED_LEN && verdict == RPCRDMA_BAD_VERS));
	if (verdict == RPCRDMA_OK || verdict == RPCRDMA_BACKWARD_REPLY) {
		CHECK(size >= RPCRDMA1_HDR_MIN);
		CHECK(hdr.hd_vers == RPCRDMA_VERS_1);
		if (hdr.hd_proc == RPCRDMA1_NOMSG) {
			CHECK(hdr.hd_lists.ls_call.ck_length >= FUZZ_RPC_LEN);
			CHECK(!hdr.hd_msg_len);
		} else {
			CHECK(hdr.hd_proc == RPCRDMA1_MSG);
			CHECK(!hdr.hd_lists.ls_call.ck_nsegs);
			CHECK(hdr.hd_msg_len >= FUZZ_RPC_LEN);
			CHECK(hdr.hd_rpc_xid == hdr.hd_xid);
		}
		fuzz_call_use(&hdr, msg, begin, &in);
	}
	if (verdict == RPCRDMA_BACKWARD_REPLY) {
		CHECK(hdr.hd_rpc_type == RPCRDMA_RPC_REPLY);
		CHECK(fuzz_lists_none(&hdr.hd_lists));
	}

	memset(msg, fuzz_u8(&in), size);
	fuzz_lists_walk_spoilt(&hdr.hd_lists);
	free(msg);
}

/*
 * Target v1-trip: a Call, encoded by a requester and received by a responder
 *
 * Covers: V1-WRC-05 V1-WRC-06 V1-RPL-06 V1-CRD-04
 */
void fuzz_v1_trip(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_call_out *out;
	enum rpcrdma_verdict verdict;
	static struct fuzz_call call;
	static struct rpcrdma_hdr hdr;
	u32 len, room;
	u8 *buf, *msg;
	int rc;

	out = &call.fc_out;
	fuzz_call_make(&call, &in);
	len = RPCRDMA_FIXED_LEN + fuzz_call_len(out);
	room = fuzz_u8(&in) % 8 == 1 ? fuzz_u32(&in) % len : len;
	buf = malloc(room);
	rc = rpcrdma_encode_call(1, buf, room, out);
	if (!fuzz_call_valid(out)) {
		CHECK(rc == -EINVAL);
		goto out_free;
	}
	if (room < len) {
		CHECK(rc == -EMSGSIZE);
		goto out_free;
	}
	CHECK(rc == (int)len);

	msg = fuzz_msg_make(buf, &len, out->ko_xid, out->ko_proc,
			    RPCRDMA_RPC_CALL);
	verdict = rpcrdma1_decode_call(msg, len, &hdr);
	fuzz_hdr_check(&hdr, msg, len);
	if (!fuzz_call_acceptable(out)) {
		CHECK(verdict == RPCRDMA_MANY_READS ||
		      verdict == RPCRDMA_MANY_WRITES ||
		      verdict == RPCRDMA_MANY_SEGS ||
		      verdict == RPCRDMA_BAD_LENGTH);
	} else if (out->ko_proc == RPCRDMA1_NOMSG &&
		   hdr.hd_lists.ls_call.ck_length < FUZZ_RPC_LEN) {
		CHECK(verdict == RPCRDMA_BAD_FORM);
	} else {
		CHECK(verdict == RPCRDMA_OK);
		CHECK(hdr.hd_length ==
		      RPCRDMA_FIXED_LEN + fuzz_call_len(out));
		fuzz_call_use(&hdr, msg, RPCRDMA_FIXED_LEN, &in);
	}
	free(msg);
out_free:
	free(buf);
}

/* --- Replies --- */

/* Makes the chunk that the Call has offered. @offer is a copy of the chunk that the Reply returns,
 * and is changed or left as it is.
 */
static void fuzz_offer_make(struct fuzz_call *call, struct fuzz_in *in,
			    struct rpcrdma_chunk_out *offer)
{
	struct rpcrdma_segment *segs =
		&call->fc_seg[offer->co_segs - call->fc_seg];
	u32 i, kind = fuzz_u8(in);

	if (!offer->co_nsegs)
		return;
	i = kind / 8 % offer->co_nsegs;
	switch (kind % 8) {
	case 1:
		segs[i].rs_length |= 0xff;
		break;
	case 2:
		segs[i].rs_length /= 2;
		break;
	case 3:
		offer->co_nsegs--;
		break;
	case 4:
		for (i = 0; i < offer->co_nsegs; i++)
			segs[i].rs_length = 4096;
		break;
	}
}

/* Compare the Reply with a Call that it may belong to. */
static void fuzz_reply_compare(const struct rpcrdma_hdr *hdr,
			       struct fuzz_in *in)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	u32 i, reply_written, written[FUZZ_CHUNKS];
	static struct fuzz_call call;
	struct rpcrdma_call_out *out = &call.fc_out;
	enum rpcrdma_verdict verdict;
	u32 kind = fuzz_u8(in) % 8;
	bool plausible;

	fuzz_call_copy(&call, hdr);
	for (i = 0; i < out->ko_nwrites; i++)
		fuzz_offer_make(&call, in, &call.fc_write[i]);
	fuzz_offer_make(&call, in, &call.fc_reply);
	if (kind == 1)
		call.fc_write[out->ko_nwrites++].co_nsegs = 0;
	if (kind == 2 && out->ko_nwrites)
		out->ko_nwrites--;
	if (kind == 3)
		out->ko_reply = out->ko_reply ? NULL : &call.fc_reply;

	plausible = !lists->ls_nwrites || lists->ls_nwrites == out->ko_nwrites;
	for (i = 0; plausible && i < lists->ls_nwrites; i++)
		plausible = fuzz_chunk_plausible(lists, &lists->ls_write[i],
						 &call.fc_write[i]);
	if (plausible && lists->ls_has_reply)
		plausible = out->ko_reply &&
			    fuzz_chunk_plausible(lists, &lists->ls_reply,
						 out->ko_reply);

	verdict = rpcrdma_lists_check_reply(hdr, out->ko_write, out->ko_nwrites,
					    out->ko_reply, written,
					    &reply_written);
	CHECK((verdict == RPCRDMA_OK) == plausible);
	if (!plausible)
		return;
	CHECK(reply_written == lists->ls_reply.ck_length);
	for (i = 0; i < out->ko_nwrites; i++)
		CHECK(written[i] == (lists->ls_nwrites ?
				     lists->ls_write[i].ck_length : 0));
}

static void fuzz_error_check(const struct rpcrdma_hdr *hdr, const u8 *msg,
			     u32 len)
{
	CHECK(fuzz_lists_none(&hdr->hd_lists));
	CHECK(hdr->hd_length <= len);
	CHECK(hdr->hd_err == fuzz_word(msg, 4));
	if (hdr->hd_vers != RPCRDMA_VERS_1)
		CHECK(hdr->hd_err == RPCRDMA1_ERR_VERS &&
		      len == RPCRDMA1_ERR_VERS_LEN);
	if (hdr->hd_err != RPCRDMA1_ERR_VERS) {
		CHECK(hdr->hd_length == RPCRDMA1_ERR_CHUNK_LEN);
		return;
	}
	CHECK(hdr->hd_length == RPCRDMA1_ERR_VERS_LEN);
	CHECK(hdr->hd_err_arg[0] == fuzz_word(msg, 5));
	CHECK(hdr->hd_err_arg[1] == fuzz_word(msg, 6));
}

/*
 * Target v1-reply: any bytes, received by a requester
 *
 * Covers: V1-RPL-08 V1-RPL-09 V1-HDR-23
 */
void fuzz_v1_reply(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;
	u8 *msg = fuzz_exact(data, size);
	const struct rpcrdma_chunk *reply = &hdr.hd_lists.ls_reply;

	memset(&hdr, 0xa5, sizeof(hdr));
	verdict = rpcrdma1_decode_reply(msg, size, &hdr);
	fuzz_hdr_check(&hdr, msg, size);

	if (verdict == RPCRDMA_OK && hdr.hd_proc == RPCRDMA1_ERROR) {
		fuzz_error_check(&hdr, msg, size);
	} else if (verdict == RPCRDMA_OK) {
		CHECK(size >= RPCRDMA1_HDR_MIN);
		CHECK(hdr.hd_vers == RPCRDMA_VERS_1);
		CHECK(!hdr.hd_lists.ls_nreads);
		CHECK(!hdr.hd_lists.ls_call.ck_nsegs);
		if (hdr.hd_proc == RPCRDMA1_NOMSG) {
			CHECK(hdr.hd_lists.ls_has_reply && reply->ck_length);
			CHECK(!hdr.hd_msg_len);
		} else {
			CHECK(hdr.hd_proc == RPCRDMA1_MSG);
			CHECK(!reply->ck_length);
			CHECK(hdr.hd_msg_len >= FUZZ_RPC_LEN);
			CHECK(hdr.hd_rpc_type != RPCRDMA_RPC_CALL);
			CHECK(hdr.hd_rpc_xid == hdr.hd_xid);
		}
		fuzz_reply_compare(&hdr, &in);
	} else if (verdict == RPCRDMA_BACKWARD_CALL) {
		CHECK(hdr.hd_proc == RPCRDMA1_MSG);
		CHECK(hdr.hd_msg_len >= FUZZ_RPC_LEN);
		CHECK(hdr.hd_rpc_type == RPCRDMA_RPC_CALL);
	}
	free(msg);
}

/* Target v1-error: errors, encoded by a responder and received by either side */
void fuzz_v1_error(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 xid = fuzz_u32(&in), credit = fuzz_num(&in), vers = fuzz_num(&in);
	u32 low = fuzz_num(&in), high = fuzz_num(&in);
	u32 len = RPCRDMA1_ERR_VERS_LEN, room = fuzz_u8(&in) % 32;
	bool chunk = fuzz_u8(&in) % 2;
	u32 other = fuzz_num(&in);
	const struct rpcrdma2_error error = {
		.er_code = chunk ? RPCRDMA2_ERR_SYSTEM : RPCRDMA2_ERR_VERS,
		.er_arg = { low, high },
	};
	static struct rpcrdma_hdr refused;
	u8 *buf = malloc(room);
	struct rpcrdma_hdr hdr;
	int rc;

	if (chunk) {
		len = RPCRDMA1_ERR_CHUNK_LEN;
		vers = RPCRDMA_VERS_1;
	}
	refused.hd_xid = xid;
	refused.hd_vers = vers;
	rc = rpcrdma_encode_error(1, buf, room, &refused, credit, &error);
	if (room < len) {
		CHECK(rc == -EMSGSIZE);
		goto out_free;
	}

	CHECK(rc == (int)len);
	CHECK(rpcrdma1_decode_reply(buf, len, &hdr) == RPCRDMA_OK);
	fuzz_error_check(&hdr, buf, len);
	CHECK(hdr.hd_xid == xid && hdr.hd_vers == vers);
	CHECK(hdr.hd_proc == RPCRDMA1_ERROR);
	CHECK(hdr.hd_credit == (credit ? credit : 1));
	CHECK(rpcrdma_wire_set_credit(buf, other) == (other != hdr.hd_credit));
	CHECK(!rpcrdma_wire_set_credit(buf, other));
	CHECK(fuzz_word(buf, 2) == other);
	CHECK(hdr.hd_err == (chunk ? RPCRDMA1_ERR_CHUNK : RPCRDMA1_ERR_VERS));
	CHECK(chunk || (hdr.hd_err_arg[0] == low && hdr.hd_err_arg[1] == high));
	/* A responder drops errors, whatever their version is (V1-ERR-23). */
	CHECK(rpcrdma1_decode_call(buf, len, &hdr) == RPCRDMA_DISCARD_ERROR);
out_free:
	free(buf);
}
