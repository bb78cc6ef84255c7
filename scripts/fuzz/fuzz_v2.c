// SPDX-License-Identifier: GPL-2.0
/*
 * Version 2 messages. Both ends get any bytes, and refuse bad messages. If one end encodes a
 * message, the other end must decode the same values.
 *
 * The end whose message was refused must be able to decode the error, and must not answer it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/limits.h>
#include <rpcrdma/chunk.h>
#include <rpcrdma/props.h>
#include <rpcrdma/plan.h>
#include <rpcrdma/vers.h>
#include <rpcrdma/wire.h>

#include "fuzz.h"

#define FUZZ_MSG_MAX	128u	/* more than any of our errors or CONNPROPs */

/* Returns the number of words behind an error code. */
static u32 fuzz_error_words(u32 code)
{
	switch (code) {
	case RPCRDMA2_ERR_VERS:
	case RPCRDMA2_ERR_WRITE_RESOURCE:
		return 2;
	case RPCRDMA2_ERR_READ_CHUNKS:
	case RPCRDMA2_ERR_WRITE_CHUNKS:
	case RPCRDMA2_ERR_SEGMENTS:
	case RPCRDMA2_ERR_REPLY_RESOURCE:
		return 1;
	default:
		return 0;
	}
}

/* The end that sent the bad message reads the error. */
static void fuzz_error_read(const u8 *buf, u32 len, const struct rpcrdma_hdr *about,
			    const struct rpcrdma2_error *error)
{
	u32 i, words = fuzz_error_words(error->er_code);
	struct rpcrdma2_error none;
	enum rpcrdma_verdict verdict;
	struct rpcrdma_hdr hdr;

	verdict = rpcrdma2_decode_reply(buf, len, 0, &hdr);
	CHECK(verdict == RPCRDMA_OK);
	CHECK(hdr.hd_xid == about->hd_xid && hdr.hd_vers == about->hd_vers);
	CHECK(hdr.hd_proc == RPCRDMA2_ERROR && hdr.hd_response);
	CHECK(hdr.hd_length == len && hdr.hd_credit);
	/* If the lowest version is 4, 5, 6 or 8, an ERR_VERS looks like the version 2 error
	 * with this number as its code (see rpcrdma2_decode_v1_error()). The module does
	 * not send such values.
	 */
	if (error->er_code != RPCRDMA2_ERR_VERS || hdr.hd_v1_error) {
		CHECK(hdr.hd_err == error->er_code);
		for (i = 0; i < words; i++)
			CHECK(hdr.hd_err_arg[i] == error->er_arg[i]);
	} else {
		CHECK(fuzz_error_words(error->er_arg[0]) == 1);
	}
	CHECK(!rpcrdma2_is_grant(&hdr, verdict));

	CHECK(rpcrdma2_decode_call(buf, len, &rpcrdma2_accept_forward, &hdr) ==
	      RPCRDMA_BACKWARD_REPLY);
	for (verdict = RPCRDMA_OK; verdict <= RPCRDMA_BAD_PROP; verdict++)
		CHECK(!rpcrdma2_refusal(&hdr, verdict,
					&rpcrdma2_accept_forward, &none));
}

/* Check the error that answers a message, if there must be one. */
static void fuzz_refuse(const struct rpcrdma_hdr *hdr,
			enum rpcrdma_verdict verdict,
			const struct rpcrdma2_accept *accept)
{
	struct rpcrdma2_error error;
	u8 buf[FUZZ_MSG_MAX];
	bool answer;
	int len;

	answer = rpcrdma2_refusal(hdr, verdict, accept, &error);
	CHECK(!answer || (verdict >= RPCRDMA_BAD_VERS && !hdr->hd_response));
	if (verdict > RPCRDMA_BAD_VERS && !hdr->hd_response)
		CHECK(answer);
	if (!answer)
		return;
	len = rpcrdma_encode_error(2, buf, sizeof(buf), hdr, 0, &error);
	CHECK(len > 0);
	fuzz_error_read(buf, len, hdr, &error);
}

static void fuzz_hdr_check(const struct rpcrdma_hdr *hdr, const u8 *msg,
			   u32 len, enum rpcrdma_verdict verdict)
{
	u32 i;

	CHECK(verdict != RPCRDMA_DISCARD_SHORT || len < RPCRDMA2_PREFIX_LEN);
	if (len < RPCRDMA_FIXED_LEN) {
		CHECK(verdict == RPCRDMA_DISCARD_SHORT);
		CHECK(!hdr->hd_xid && !hdr->hd_vers && !hdr->hd_credit);
		return;
	}
	CHECK(hdr->hd_xid == fuzz_word(msg, 0));
	CHECK(hdr->hd_vers == fuzz_word(msg, 1));
	CHECK(hdr->hd_credit == fuzz_word(msg, 2));
	CHECK(hdr->hd_proc == fuzz_word(msg, 3));
	if (len >= RPCRDMA2_PREFIX_LEN && hdr->hd_vers == RPCRDMA_VERS_2 &&
	    !hdr->hd_v1_error)
		CHECK(hdr->hd_response == (fuzz_word(msg, 4) & 1));
	for (i = 0; i < RPCRDMA2_NPROPS; i++)
		CHECK(hdr->hd_proc == RPCRDMA2_CONNPROP ||
		      !(hdr->hd_props.vp_given & (1u << i)));
	CHECK(hdr->hd_proc != RPCRDMA2_CONNPROP || verdict == RPCRDMA_BAD_VERS ||
	      verdict == RPCRDMA_DISCARD_SHORT ||
	      hdr->hd_props.vp_value[RPCRDMA2_PROP_RBSIZ] >= 1024);
	CHECK(hdr->hd_props.vp_value[RPCRDMA2_PROP_BRS] <= RPCRDMA2_BRS_GENL);

	if (!hdr->hd_length || hdr->hd_proc > RPCRDMA2_NOMSG) {
		CHECK(hdr->hd_length <= len);
		CHECK(fuzz_lists_none(&hdr->hd_lists) || !hdr->hd_length);
		return;
	}
	CHECK(hdr->hd_length >= RPCRDMA2_HDR_MIN);
	CHECK(hdr->hd_length + hdr->hd_msg_len == len);
	fuzz_lists_walk(&hdr->hd_lists);
	if (hdr->hd_inv_handle)
		CHECK(hdr->hd_inv_handle == fuzz_word(msg, 5));
	CHECK(!hdr->hd_response || !(hdr->hd_inv_handle || hdr->hd_inv_stray));
	CHECK(hdr->hd_response || !fuzz_word(msg, 5) ||
	      !hdr->hd_inv_handle == !!hdr->hd_inv_stray);
}

/* Check an accepted message, which may be a request or a response. */
static void fuzz_accepted(const struct rpcrdma_hdr *hdr, u32 len)
{
	const struct rpcrdma_lists *lists = &hdr->hd_lists;
	struct rpcrdma_cm_private ours = { .cp_send_size = 8192 };
	struct rpcrdma_limits limits;

	switch (hdr->hd_proc) {
	case RPCRDMA2_MSG:
		CHECK(!lists->ls_call.ck_nsegs);
		CHECK(hdr->hd_msg_len >= FUZZ_RPC_LEN);
		CHECK(hdr->hd_rpc_xid == hdr->hd_xid);
		CHECK(hdr->hd_rpc_type == hdr->hd_response);
		break;
	case RPCRDMA2_NOMSG:
		CHECK(!hdr->hd_msg_len);
		if (hdr->hd_response)
			CHECK(lists->ls_reply.ck_length);
		else
			CHECK(lists->ls_call.ck_length >= FUZZ_RPC_LEN);
		break;
	case RPCRDMA2_ERROR:
		CHECK(hdr->hd_response);
		break;
	case RPCRDMA2_CONNPROP:
		CHECK(hdr->hd_length == len);
		rpcrdma2_props_limits(&ours, &hdr->hd_props, &limits);
		CHECK(limits.lm_inline_send >= 1024);
		CHECK(limits.lm_inline_send <= 8192);
		break;
	default:
		CHECK(false);
	}
	if (hdr->hd_response)
		CHECK(!lists->ls_nreads && !lists->ls_call.ck_nsegs);
}

/*
 * Target v2-server: any bytes, received by a server
 *
 * Covers: V2-HDR-16 V2-CHK-02 V2-ERR-03 V2-ERR-06 V2-ERR-09 V2-PRP-07
 */
void fuzz_v2_server(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	struct rpcrdma2_accept accept = rpcrdma2_accept_forward;
	u8 *msg = fuzz_exact(data, size);
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;

	if (fuzz_u8(&in)) {
		accept.ac_reads = fuzz_u8(&in) % 4;
		accept.ac_writes = fuzz_u8(&in) % 4;
		accept.ac_segs = fuzz_u8(&in) % 4;
	}
	memset(&hdr, 0xa5, sizeof(hdr));
	verdict = rpcrdma2_decode_call(msg, size, &accept, &hdr);
	fuzz_hdr_check(&hdr, msg, size, verdict);
	fuzz_refuse(&hdr, verdict, &accept);

	CHECK(verdict != RPCRDMA_BACKWARD_CALL);
	if (verdict == RPCRDMA_OK) {
		CHECK(!hdr.hd_response);
		CHECK(hdr.hd_lists.ls_nreads <= accept.ac_reads);
		CHECK(hdr.hd_lists.ls_nwrites <= accept.ac_writes);
		CHECK(hdr.hd_lists.ls_reply.ck_nsegs <= accept.ac_segs);
		fuzz_accepted(&hdr, size);
	}
	if (verdict == RPCRDMA_BACKWARD_REPLY) {
		CHECK(hdr.hd_response);
		fuzz_accepted(&hdr, size);
	}
	memset(msg, fuzz_u8(&in), size);
	fuzz_lists_walk_spoilt(&hdr.hd_lists);
	free(msg);
}

/*
 * Target v2-client: any bytes, received by a client
 *
 * Covers: V2-HDR-16 V2-ERR-03 V2-ERR-30 V2-BC-07
 */
void fuzz_v2_client(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	unsigned int flags = fuzz_u8(&in) & RPCRDMA2_NEGOTIATING;
	u8 *msg = fuzz_exact(data, size);
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;

	memset(&hdr, 0xa5, sizeof(hdr));
	verdict = rpcrdma2_decode_reply(msg, size, flags, &hdr);
	fuzz_hdr_check(&hdr, msg, size, verdict);
	fuzz_refuse(&hdr, verdict, &rpcrdma2_accept_backward);
	CHECK(!rpcrdma2_is_grant(&hdr, verdict) || hdr.hd_response);

	CHECK(verdict != RPCRDMA_BACKWARD_REPLY);
	if (verdict == RPCRDMA_OK) {
		CHECK(hdr.hd_response);
		fuzz_accepted(&hdr, size);
	}
	if (verdict == RPCRDMA_BACKWARD_CALL) {
		CHECK(!hdr.hd_response);
		CHECK(fuzz_lists_none(&hdr.hd_lists));
		fuzz_accepted(&hdr, size);
	}
	free(msg);
}

/**
 * fuzz_v2_negotiate - how a client reacts to the first messages that it gets
 * @data: message, and behind it choices about the XID
 * @size: number of bytes
 *
 * Only an answer to our CONNPROP decides the version.
 */
void fuzz_v2_negotiate(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	bool ours = fuzz_u8(&in) % 8;
	u8 *msg = fuzz_exact(data, size);
	static struct rpcrdma_hdr hdr;
	enum rpcrdma_verdict verdict;
	enum rpcrdma_negotiate negotiate;

	verdict = rpcrdma2_decode_reply(msg, size, RPCRDMA2_NEGOTIATING, &hdr);
	negotiate = rpcrdma_negotiate_answer(&hdr, verdict, hdr.hd_xid ^ !ours);
	if (!ours || !hdr.hd_response)
		CHECK(negotiate == RPCRDMA_NEGOTIATE_WAIT);
	switch (negotiate) {
	case RPCRDMA_NEGOTIATE_V2:
		CHECK(hdr.hd_proc == RPCRDMA2_CONNPROP);
		CHECK(verdict == RPCRDMA_OK);
		break;
	case RPCRDMA_NEGOTIATE_V1:
	case RPCRDMA_NEGOTIATE_NONE:
		CHECK(hdr.hd_proc == RPCRDMA2_ERROR);
		break;
	case RPCRDMA_NEGOTIATE_V2_PLAIN:
		CHECK(hdr.hd_proc == RPCRDMA2_ERROR ||
		      hdr.hd_proc == RPCRDMA2_CONNPROP);
		break;
	case RPCRDMA_NEGOTIATE_WAIT:
		CHECK(!ours || !hdr.hd_response ||
		      (hdr.hd_proc != RPCRDMA2_ERROR &&
		       hdr.hd_proc != RPCRDMA2_CONNPROP));
	}
	free(msg);
}

/**
 * fuzz_v2_retry - what a client changes after an error, and when it gives up
 * @data: message, and behind it choices about the Call
 * @size: number of bytes
 *
 * Covers: V2-ERR-15
 */
void fuzz_v2_retry(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_choices(data, &size);
	const struct rpcrdma_plan plan = {
		.pl_call = fuzz_u8(&in) % 4, .pl_reply = fuzz_u8(&in) % 4,
	};
	struct rpcrdma_retry retry = { .ry_reply_chunk = fuzz_u8(&in) % 2 };
	u32 had = fuzz_u8(&in), most = ~(u32)fuzz_u8(&in);
	const struct rpcrdma_retry before = retry;
	u8 *msg = fuzz_exact(data, size);
	static struct rpcrdma_hdr hdr;

	if (rpcrdma2_decode_reply(msg, size, 0, &hdr) == RPCRDMA_OK &&
	    hdr.hd_proc == RPCRDMA2_ERROR) {
		if (!rpcrdma_plan_retry(&retry, &hdr, &plan, had, most)) {
			CHECK(!memcmp(&retry, &before, sizeof(retry)));
		} else {
			CHECK(retry.ry_base);
			CHECK(!retry.ry_no_read ||
			      plan.pl_call == RPCRDMA_CALL_READ);
			CHECK(retry.ry_no_read || retry.ry_reply_chunk ||
			      plan.pl_call == RPCRDMA_CALL_GROUP);
		}
	}
	free(msg);
}

static bool fuzz_has_handle(const struct fuzz_call *call, u32 handle)
{
	u32 i;

	for (i = 0; i < call->fc_nsegs; i++)
		if (call->fc_seg[i].rs_handle == handle)
			return true;
	return false;
}

/* The responder answers the Call, with all chunks used, and the requester reads the answer. */
static void fuzz_answer(const struct rpcrdma_hdr *call_hdr,
			const struct fuzz_call *call)
{
	const struct rpcrdma_lists *lists = &call_hdr->hd_lists;
	u32 i, len, written[RPCRDMA_MAX_CHUNKS], back[RPCRDMA_MAX_CHUNKS];
	struct rpcrdma_reply_out out = {
		.ro_xid = call_hdr->hd_xid, .ro_lists = lists,
		.ro_reply_written = lists->ls_reply.ck_length,
		.ro_written = written,
	};
	static struct rpcrdma_hdr hdr;
	u32 reply_back;
	u8 *buf, *msg;

	out.ro_proc = out.ro_reply_written ? RPCRDMA2_NOMSG : RPCRDMA2_MSG;
	for (i = 0; i < lists->ls_nwrites; i++)
		written[i] = lists->ls_write[i].ck_length;
	len = rpcrdma_reply_len(RPCRDMA_VERS_2, lists);
	buf = malloc(len);
	CHECK(rpcrdma_encode_reply(2, buf, len - 1, &out) == -EMSGSIZE);
	CHECK(rpcrdma_encode_reply(2, buf, len, &out) == (int)len);
	msg = fuzz_msg_make(buf, &len, out.ro_xid, out.ro_proc,
			    RPCRDMA_RPC_REPLY);
	CHECK(rpcrdma2_decode_reply(msg, len, 0, &hdr) == RPCRDMA_OK);
	CHECK(rpcrdma2_is_grant(&hdr, RPCRDMA_OK) && hdr.hd_credit == 1);
	CHECK(rpcrdma_lists_check_reply(&hdr, call->fc_out.ko_write,
					call->fc_out.ko_nwrites,
					call->fc_out.ko_reply, back,
					&reply_back) == RPCRDMA_OK);
	CHECK(reply_back == out.ro_reply_written);
	for (i = 0; i < lists->ls_nwrites; i++)
		CHECK(back[i] == written[i]);
	free(msg);
	free(buf);
}

/*
 * Target v2-trip: a Call, encoded by a requester and received by a responder
 *
 * Covers: V2-CHK-01 V2-CHK-03 V2-HDR-08
 */
void fuzz_v2_trip(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	enum rpcrdma_verdict verdict;
	struct rpcrdma_call_out *out;
	static struct fuzz_call call;
	static struct rpcrdma_hdr hdr;
	u32 len, v1_len;
	u8 *buf, *v1, *msg;
	bool valid;
	int rc;

	out = &call.fc_out;
	fuzz_call_make(&call, &in);
	out->ko_inv_handle = fuzz_u8(&in);
	valid = fuzz_call_valid(out);
	len = RPCRDMA2_LISTS_AT + fuzz_call_len(out);
	buf = malloc(len);
	rc = rpcrdma_encode_call(2, buf, len, out);
	if (!valid) {
		CHECK(rc == -EINVAL);
		goto out_free;
	}
	CHECK(rc == (int)len);
	CHECK(rpcrdma_encode_call(2, buf, len - 1, out) == -EMSGSIZE);
	CHECK(rpcrdma_encode_call(2, buf, len, out) == (int)len);

	/* The chunk lists are encoded as in version 1. */
	v1_len = len - RPCRDMA2_LISTS_AT + RPCRDMA_FIXED_LEN;
	v1 = malloc(v1_len);
	CHECK(rpcrdma_encode_call(1, v1, v1_len, out) == (int)v1_len);
	CHECK(!memcmp(buf + RPCRDMA2_LISTS_AT, v1 + RPCRDMA_FIXED_LEN,
		      v1_len - RPCRDMA_FIXED_LEN));
	free(v1);

	msg = fuzz_msg_make(buf, &len, out->ko_xid, out->ko_proc,
			    RPCRDMA_RPC_CALL);
	verdict = rpcrdma2_decode_call(msg, len, &rpcrdma2_accept_forward,
				       &hdr);
	fuzz_hdr_check(&hdr, msg, len, verdict);
	fuzz_refuse(&hdr, verdict, &rpcrdma2_accept_forward);
	if (verdict == RPCRDMA_OK) {
		CHECK(fuzz_call_acceptable(out));
		CHECK((fuzz_has_handle(&call, out->ko_inv_handle) ?
		       hdr.hd_inv_handle : hdr.hd_inv_stray) ==
		      out->ko_inv_handle);
		fuzz_answer(&hdr, &call);
	} else if (fuzz_call_acceptable(out)) {
		/* A valid Call is refused only if it has 16 Read chunks (15 are accepted), or if
		 * its Position Zero chunk is too short for an RPC message.
		 */
		CHECK(verdict == RPCRDMA_MANY_READS ||
		      (verdict == RPCRDMA_BAD_FORM &&
		       hdr.hd_lists.ls_call.ck_length < FUZZ_RPC_LEN));
	}
	free(msg);
out_free:
	free(buf);
}

/*
 * Target v2-ctl: errors and properties, encoded by one side and decoded by the other
 *
 * Covers: V2-ERR-01 V2-PRP-01 V2-PRP-14
 */
void fuzz_v2_ctl(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	struct rpcrdma_hdr hdr, about = {
		.hd_xid = fuzz_u32(&in), .hd_vers = RPCRDMA_VERS_2,
	};
	struct rpcrdma2_error error = {
		.er_code = fuzz_num(&in),
		.er_arg = { fuzz_num(&in), fuzz_num(&in) },
	};
	struct rpcrdma2_props props = {
		.vp_value = { fuzz_num(&in), fuzz_num(&in) },
	};
	u32 room = fuzz_u8(&in) % FUZZ_MSG_MAX;
	bool response = fuzz_u8(&in) % 2, good;
	enum rpcrdma_verdict verdict;
	u8 *buf = malloc(room);
	int rc;

	rc = rpcrdma_encode_error(2, buf, room, &about, 1, &error);
	CHECK(rc == -EMSGSIZE || (rc > 0 && rc <= (int)room));
	if (rc > 0)
		fuzz_error_read(buf, rc, &about, &error);

	for (verdict = RPCRDMA_OK; verdict <= RPCRDMA_BIG_GROUP; verdict++)
		fuzz_refuse(&about, verdict, &rpcrdma2_accept_forward);

	good = props.vp_value[RPCRDMA2_PROP_RBSIZ] >= 1024 &&
	       props.vp_value[RPCRDMA2_PROP_BRS] <= RPCRDMA2_BRS_GENL;
	rc = rpcrdma2_encode_connprop(buf, room, about.hd_xid, 1, response,
				      &props);
	if (!good) {
		CHECK(rc == -EINVAL);
	} else if (rc < 0) {
		CHECK(rc == -EMSGSIZE && room < 48);
	} else {
		verdict = response ? rpcrdma2_decode_reply(buf, rc, 1, &hdr) :
			  rpcrdma2_decode_call(buf, rc,
					       &rpcrdma2_accept_forward, &hdr);
		CHECK(verdict == RPCRDMA_OK && hdr.hd_response == response);
		CHECK(!memcmp(hdr.hd_props.vp_value, props.vp_value,
			      sizeof(props.vp_value)));
	}
	free(buf);
}
