// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/group.c: how a receiver assembles groups,
 * how a sender divides messages, that the receiver accepts what the sender makes, and when a Call
 * or a Reply is sent as a group. See rtx.h and group.h for the terms.
 */

#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <rpcrdma/credit.h>
#include <rpcrdma/group.h>

#include "accept.h"
#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

/* Limits of a receiver that accepts all Calls and Replies of vectors_rtx.h: the property RTX of
 * vec_rtx_connprop_server, and the largest number of Receives (rtx_replies) that one of these Calls
 * offers.
 */
static const struct rpcrdma_group_limits group_vector_limits = {
	.gl_ours = { .xp_flags = RPCRDMA2_RTX_F_RESULTS, .xp_call_max = 64,
		     .xp_reply_max = 16, .xp_msg_max = 1052672, .xp_head = 1024,
		     .xp_seg = 4096, .xp_nsegs = 7 },
	.gl_replies = 5,
};

/**
 * struct group_run - a receiver, and what has happened so far
 * @test: the test case
 * @group: state of the receiver
 * @limits: its limits
 * @does: its last decision
 * @held: number of Receives that are held
 */
struct group_run {
	struct kunit			*test;
	struct rpcrdma_group		group;
	struct rpcrdma_group_limits	limits;
	enum rpcrdma_group_does		does;
	u32				held;
};

static void group_setup(struct group_run *run, struct kunit *test,
			const struct rpcrdma_group_limits *limits)
{
	struct rpcrdma_group_limits keep = *limits;

	memset(run, 0, sizeof(*run));
	run->test = test;
	run->limits = keep;
}

/* Let a message arrive, and make the checks that apply to every arrival. @tx is NULL if the message
 * is not a transmission of a group. After a group was broken, nothing else may arrive.
 */
static enum rpcrdma_group_does
group_arrive(struct group_run *run, const struct rpcrdma2_transmission *tx)
{
	const struct rpcrdma_group *group = &run->group;
	struct kunit *test = run->test;
	bool open = group->gr_number < group->gr_count;

	KUNIT_ASSERT_TRUE(test, run->does != RPCRDMA_GROUP_BROKEN);
	run->does = rpcrdma_group_take(&run->group, &run->limits, tx);
	KUNIT_EXPECT_EQ(test, run->does == RPCRDMA_GROUP_PASS,
			!open && (!tx || (!tx->tx_response &&
					  !run->limits.gl_ours.xp_call_max)));
	if (run->does == RPCRDMA_GROUP_KEEP)
		run->held++;
	if (run->does == RPCRDMA_GROUP_WHOLE) {
		KUNIT_EXPECT_EQ(test, run->held + 1, group->gr_count);
		run->held = 0;
	}
	KUNIT_EXPECT_EQ(test, run->held, (group->gr_number < group->gr_count) ?
			group->gr_number : 0);
	return run->does;
}

/* --- messages as they are on the wire -------------------------------------- */

/* A message of vectors_rtx.h, in memory that a test can change */
struct group_message {
	u32	count;
	u8	*buf[4];
	u32	len[4];
};

static void group_load(struct rpcrdma_kunit *fx, struct group_message *message,
		       enum rpcrdma_vector_id first, u32 count)
{
	u32 i;

	message->count = count;
	for (i = 0; i < count; i++)
		message->buf[i] = fx_whole(fx, first + i, &message->len[i]);
}

/* Decode a complete group, as the owner of a connection does, and check it, as net/verbs/gather.c
 * does. Returns the verdict.
 */
static enum rpcrdma_verdict
group_execute(struct rpcrdma_kunit *fx, struct group_run *run,
	      const struct group_message *message)
{
	struct rpcrdma2_transmission tx;
	enum rpcrdma_verdict verdict;
	struct rpcrdma2_item item;

	verdict = rpcrdma2_decode_group(message->buf[0], message->len[0],
					&rpcrdma2_accept_forward, &fx->kf_hdr);
	if (verdict)
		return verdict;
	KUNIT_ASSERT_TRUE(run->test, rpcrdma2_peek_rtx(message->buf[0],
						       message->len[0], &tx));
	KUNIT_ASSERT_TRUE(run->test, rpcrdma2_rtx_item(&tx, &item));
	return rpcrdma_group_check(&run->group, &run->limits, item.im_length);
}

/* Receive a message. Returns its verdict, %RPCRDMA_OK if it is good. @when is set to the number of
 * the transmission, counted from 1, with which the group was complete or broken. If neither has
 * happened, @when is 0. If the group is not complete, the verdict is %RPCRDMA_DISCARD_SHORT.
 */
static enum rpcrdma_verdict
group_receive(struct rpcrdma_kunit *fx, struct group_run *run,
	      const struct group_message *message, u32 *when)
{
	struct rpcrdma2_transmission tx;
	bool peeked;

	for (*when = 1; *when <= message->count; ++*when) {
		peeked = rpcrdma2_peek_rtx(message->buf[*when - 1],
					   message->len[*when - 1], &tx);
		switch (group_arrive(run, peeked ? &tx : NULL)) {
		case RPCRDMA_GROUP_WHOLE:
			return group_execute(fx, run, message);
		case RPCRDMA_GROUP_BROKEN:
			return RPCRDMA_DISCARD_SHORT;
		default:
			break;
		}
	}
	*when = 0;
	return RPCRDMA_DISCARD_SHORT;
}

static u32 group_code(enum rpcrdma_verdict verdict)
{
	struct rpcrdma_hdr hdr = { .hd_vers = 2 };
	struct rpcrdma2_error error;

	return rpcrdma2_refusal(&hdr, verdict, &rpcrdma2_accept_forward,
				&error) ? error.er_code : 0;
}

struct group_vector_case {
	const char		*desc;
	enum rpcrdma_vector_id	first;
	u32			count;
	u64			data;
};

static const struct group_vector_case group_vectors[] = {
	{ "WRITE of 8192", VEC_RTX_WRITE_8K, 1, 8192 },
	{ "WRITE of 65536", VEC_RTX_WRITE_64K_1, 3, 65536 },
	{ "long Call", VEC_RTX_LONG_1, 4, 0 },
	{ "READDIRPLUS", VEC_RTX_READDIR, 1, 0 },
	{ "its Reply", VEC_RTX_REPLY_1, 2, 0 },
	{ "READ", VEC_RTX_READ_CALL, 1, 0 },
	{ "its Reply, placed", VEC_RTX_READ_REPLY, 1, 8192 },
	{ "an item and a chunk", VEC_RTX_MIXED, 1, 8192 },
};

KUNIT_ARRAY_PARAM_DESC(group_vector, group_vectors, desc);

/* Covers: RTX-43 RTX-46 RTX-55 RTX-59 */
static void group_takes_vectors(struct kunit *test)
{
	const struct group_vector_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	struct group_message message;
	struct group_run run;
	u32 when;

	group_load(fx, &message, param->first, param->count);
	group_setup(&run, test, &group_vector_limits);
	KUNIT_ASSERT_EQ(test, group_receive(fx, &run, &message, &when),
			RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, when, param->count);
	KUNIT_EXPECT_EQ(test, run.group.gr_xid, XID);
	KUNIT_EXPECT_EQ(test, run.group.gr_here, run.group.gr_stream);
	KUNIT_EXPECT_EQ(test, run.group.gr_data, param->data);
}

/* Ways to change the WRITE of 65536 bytes. In transmission @part, counted from 1, the word number
 * @word, counted from 0, is set to @value, and the length changes by @more bytes. After
 * transmission @when, counted from 1, the receiver answers with the error @code, accepts the
 * message if @code is 0, or closes the connection if @code is CLOSES.
 */
struct group_bad_case {
	const char	*desc;
	u32		part, word, value;
	int		more;
	u32		code, when;
};

#define CLOSES		U32_MAX
#define BAD_XDR		RPCRDMA2_ERR_BAD_XDR
#define RTX_CONT	RPCRDMA2_ERR_RTX_CONT
#define RTX_LIMIT	RPCRDMA2_ERR_RTX_LIMIT

static const struct group_bad_case group_bad_cases[] = {
	{ "nothing", 1, 2, 128, 0, 0, 3 },
	{ "no transmissions", 1, 5, 0, 0, CLOSES, 1 },
	{ "one transmission", 1, 5, 1, 0, RTX_CONT, 1 },
	{ "two transmissions", 1, 5, 2, 0, RTX_CONT, 2 },
	{ "stream of 4 bytes", 1, 6, 4, 0, CLOSES, 1 },
	{ "4 bytes of stream here", 1, 7, 4, 0, CLOSES, 1 },
	{ "more stream here than there is", 1, 7, 0x54, 0, CLOSES, 1 },
	{ "any number of bytes here", 1, 7, 0x7fffffff, 0, CLOSES, 1 },
	{ "a stream too long", 1, 6, 1052676, 0, CLOSES, 3 },
	{ "the longest stream", 1, 6, 1052672, 0, CLOSES, 3 },
	{ "data in front of the targets", 1, 8, 0x3fc, 0, CLOSES, 1 },
	{ "data behind their beginning", 1, 8, 0x404, 0, CLOSES, 1 },
	{ "data at the end", 1, 8, 29696, 0, CLOSES, 1 },
	{ "data inside the stream", 1, 8, 0x90, 0, CLOSES, 1 },
	{ "no data, and what looks like it", 1, 8, 0, 0, BAD_XDR, 3 },
	{ "nobody waits for the Reply", 1, 9, 0, 0, CLOSES, 1 },
	{ "17 items", 1, 11, 17, 0, BAD_XDR, 3 },
	{ "an item not aligned", 1, 12, 0x51, 0, BAD_XDR, 3 },
	{ "an item behind the end", 1, 12, 0x54, 0, BAD_XDR, 3 },
	{ "an item of nothing", 1, 13, 0, 0, BAD_XDR, 3 },
	{ "an item too long by a byte", 1, 13, 65537, 0, RTX_CONT, 3 },
	{ "an item too short by a byte", 1, 13, 65535, 0, RTX_CONT, 3 },
	{ "an item beyond what is taken", 1, 13, 1052593, 0, RTX_LIMIT, 3 },
	{ "an item just inside it", 1, 13, 1052592, 0, RTX_CONT, 3 },
	{ "half a segment in front of more", 1, 2, 128, -1, CLOSES, 2 },
	{ "a segment less", 1, 2, 128, -4096, RTX_CONT, 3 },
	{ "data behind the targets", 1, 2, 128, 1, CLOSES, 1 },
	{ "a second with another number", 2, 5, 2, 0, CLOSES, 2 },
	{ "a second that is no group's", 2, 5, 7, 0, CLOSES, 2 },
	{ "a second with another offset", 2, 6, 0x54, 0, CLOSES, 2 },
	{ "stream beyond the end", 2, 7, 4, 0, CLOSES, 2 },
	{ "any number of bytes there", 2, 7, U32_MAX - 79, 0, CLOSES, 2 },
	{ "data elsewhere", 2, 8, 0x404, 0, CLOSES, 2 },
	{ "a second of nothing", 2, 8, 0, -29660, CLOSES, 2 },
	{ "half a segment there", 2, 2, 128, -1, CLOSES, 3 },
	{ "data behind the targets there", 2, 2, 128, 1, CLOSES, 2 },
	{ "a second of another XID", 2, 0, XID + 1, 0, CLOSES, 2 },
	{ "a second of a Reply", 2, 4, 1, 0, CLOSES, 2 },
	{ "a second that is an error", 2, 3, 4, 0, CLOSES, 2 },
	{ "a second of another version", 2, 1, 3, 0, CLOSES, 2 },
	{ "a third without its last byte", 3, 2, 128, -1, RTX_CONT, 3 },
	{ "a third with one more", 3, 2, 128, 1, RTX_CONT, 3 },
	{ "a third without data", 3, 2, 128, -8192, CLOSES, 3 },
	{ "other credits in the third", 3, 2, 999, 0, 0, 3 },
	{ "flags that nobody knows", 3, 4, 0xfffffffe, 0, 0, 3 },
};

KUNIT_ARRAY_PARAM_DESC(group_bad, group_bad_cases, desc);

/* Covers: RTX-41 RTX-42 RTX-44 RTX-45 RTX-46 RTX-48 RTX-50 RTX-52 RTX-54 RTX-56 RTX-59 */
static void group_bad_ones(struct kunit *test)
{
	const struct group_bad_case *param = test->param_value;
	struct rpcrdma_kunit *fx = test->priv;
	struct group_message message;
	struct group_run run;
	enum rpcrdma_verdict verdict;
	u32 i = param->part - 1, when, len;
	u8 *buf;

	group_load(fx, &message, VEC_RTX_WRITE_64K_1, 3);
	len = message.len[i] + param->more;
	buf = kunit_kzalloc(test, len, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	memcpy(buf, message.buf[i], min(len, message.len[i]));
	put_unaligned_be32(param->value, buf + 4 * param->word);
	message.buf[i] = buf;
	message.len[i] = len;

	group_setup(&run, test, &group_vector_limits);
	verdict = group_receive(fx, &run, &message, &when);
	KUNIT_EXPECT_EQ(test, when, param->when);
	KUNIT_EXPECT_EQ(test, run.does, param->code == CLOSES ?
			RPCRDMA_GROUP_BROKEN : RPCRDMA_GROUP_WHOLE);
	if (param->code != CLOSES)
		KUNIT_EXPECT_EQ(test, group_code(verdict), param->code);
}

/* Covers: RTX-52 */
static void group_two_items(struct kunit *test)
{
	struct rpcrdma_kunit *fx = test->priv;
	struct group_message message;
	struct group_run run;
	u32 when;

	group_load(fx, &message, VEC_RTX_TWO_ITEMS, 1);
	group_setup(&run, test, &group_vector_limits);
	KUNIT_EXPECT_EQ(test, group_receive(fx, &run, &message, &when),
			RPCRDMA_BAD_LIST);
}

/* --- groups that are only header fields, without bytes --------------------- */

#define GROUP_HEAD	256u
#define GROUP_SEG	512u

static const struct rpcrdma_group_limits group_small = {
	.gl_ours = { .xp_call_max = 6, .xp_reply_max = 6, .xp_msg_max = 4096,
		     .xp_head = GROUP_HEAD, .xp_seg = GROUP_SEG,
		     .xp_nsegs = 2 },
	.gl_replies = 6,
};

/* Returns transmission number @number of a group of @count transmissions. The first has number 0.
 * Each has a piece of the stream, and no data.
 */
static struct rpcrdma2_transmission group_tx(u32 xid, bool response, u32 count,
					     u32 number)
{
	struct rpcrdma2_transmission tx = {
		.tx_xid = xid, .tx_response = response, .tx_first = !number,
	};

	if (number) {
		tx.tx_number = number;
		tx.tx_offset = 8 + 4 * (number - 1);
		tx.tx_here = 4;
		tx.tx_len = RPCRDMA2_RTX_NEXT_LEN + 4;
	} else {
		tx.tx_count = count;
		tx.tx_stream = 8 + 4 * (count - 1);
		tx.tx_here = 8;
		tx.tx_len = RPCRDMA2_RTX_MSG_MIN + 8;
		tx.tx_replies = !response;
	}
	return tx;
}

static enum rpcrdma_group_does
group_send(struct group_run *run, u32 xid, bool response, u32 count, u32 number)
{
	struct rpcrdma2_transmission tx = group_tx(xid, response, count,
						   number);

	return group_arrive(run, &tx);
}

/* A transmission without bytes: XID, F_RESPONSE, count and number, for group_send(); or, if the
 * count is 0, another message
 */
struct group_sent {
	u32	xid;
	bool	response;
	u32	count;
	u32	number;
};

struct group_breach_case {
	const char			*desc;
	struct group_sent	sent[4];
	u32				nsent;
};

/* The last arrival of each case breaks a group, or belongs to none. */
static const struct group_breach_case group_breaches[] = {
	{ "two Calls interleaved", { { 1, false, 3, 0 }, { 1, false, 3, 1 }, { 2, false, 2, 0 } },
	  3 },
	{ "itself again", { { 1, false, 3, 0 }, { 1, false, 3, 0 } }, 2 },
	{ "the last twice", { { 1, false, 2, 0 }, { 1, false, 2, 1 }, { 1, false, 2, 1 } }, 3 },
	{ "the second twice", { { 1, true, 3, 0 }, { 1, true, 3, 1 }, { 1, true, 3, 1 } }, 3 },
	{ "a gap", { { 1, false, 6, 0 }, { 1, false, 6, 2 } }, 2 },
	{ "a gap in a Reply", { { 1, true, 3, 0 }, { 1, true, 3, 2 } }, 2 },
	{ "no group", { { 1, false, 6, 1 } }, 1 },
	{ "no group, a Reply's", { { 1, true, 6, 1 } }, 1 },
	{ "another message", { { 1, false, 3, 0 }, { } }, 2 },
	{ "another message in a Reply", { { 1, true, 6, 0 }, { } }, 2 },
	{ "a Call in a Reply", { { 1, true, 2, 0 }, { 2, false, 1, 0 } }, 2 },
	{ "a Reply in a Call", { { 1, false, 2, 0 }, { 2, true, 1, 0 } }, 2 },
	{ "a Call's of the same XID", { { 1, true, 2, 0 }, { 1, false, 2, 1 } }, 2 },
	{ "too many", { { 1, false, 7, 0 } }, 1 },
	{ "too many in a Reply", { { 1, true, 7, 0 } }, 1 },
};

KUNIT_ARRAY_PARAM_DESC(group_breach, group_breaches, desc);

/* Covers: RTX-47 RTX-48 RTX-50 RTX-93 */
static void group_breaks(struct kunit *test)
{
	const struct group_breach_case *param = test->param_value;
	const struct group_sent *sent = param->sent;
	struct group_run run;
	u32 i;

	group_setup(&run, test, &group_small);
	for (i = 0; i < param->nsent; i++, sent++) {
		if (sent->count)
			group_send(&run, sent->xid, sent->response, sent->count,
				   sent->number);
		else
			group_arrive(&run, NULL);
		KUNIT_EXPECT_EQ(test, run.does == RPCRDMA_GROUP_BROKEN,
				i == param->nsent - 1);
	}
}

/* A transmission that ends before the words with fixed offsets do */
/* Covers: RTX-45 RTX-46 RTX-48 */
static void group_breaks_if_short(struct kunit *test)
{
	struct rpcrdma2_transmission tx;
	struct group_run run;
	u32 i;

	for (i = 0; i < 2; i++) {
		group_setup(&run, test, &group_small);
		if (i)
			group_send(&run, 1, false, 2, 0);
		tx = group_tx(1, false, 2, i);
		tx.tx_short = true;
		KUNIT_EXPECT_EQ(test, group_arrive(&run, &tx),
				RPCRDMA_GROUP_BROKEN);
	}
}

/* Covers: RTX-37 */
static void group_not_announced(struct kunit *test)
{
	struct rpcrdma_group_limits limits = group_small;
	struct group_run run;

	/* We have announced that we accept no Calls as groups, so the header types of groups are
	 * unknown in a Call. Reply groups are accepted
	 */
	limits.gl_ours.xp_call_max = 0;
	limits.gl_ours.xp_msg_max = 0;
	group_setup(&run, test, &limits);
	KUNIT_EXPECT_EQ(test, group_send(&run, 1, false, 1, 0),
			RPCRDMA_GROUP_PASS);
	KUNIT_EXPECT_EQ(test, group_send(&run, 1, false, 2, 1),
			RPCRDMA_GROUP_PASS);
	KUNIT_EXPECT_EQ(test, group_send(&run, 1, true, 2, 0),
			RPCRDMA_GROUP_KEEP);
	KUNIT_EXPECT_EQ(test, group_send(&run, 1, true, 2, 1),
			RPCRDMA_GROUP_WHOLE);
	/* Such a Call breaks an open Reply group, like any message */
	group_send(&run, 1, true, 2, 0);
	KUNIT_EXPECT_EQ(test, group_send(&run, 2, false, 1, 0),
			RPCRDMA_GROUP_BROKEN);
	/* No Call of ours offers Receives for a group */
	limits.gl_replies = 0;
	group_setup(&run, test, &limits);
	KUNIT_EXPECT_EQ(test, group_send(&run, 1, true, 1, 0),
			RPCRDMA_GROUP_BROKEN);
}

#define FIRST(count, stream, here, len, data, replies, ...) {		\
	.tx_first = true, .tx_count = (count), .tx_stream = (stream),	\
	.tx_here = (here), .tx_len = (len), .tx_data = (data),		\
	.tx_replies = (replies), __VA_ARGS__				\
}

/* First transmissions, valid and invalid, with values at the limits */
struct group_first_case {
	const char			*desc;
	bool				good;
	struct rpcrdma2_transmission	tx;
};

static const struct group_first_case group_first_cases[] = {
	{ "the shortest", true, FIRST(1, 8, 8, 72, 0, 1) },
	{ "chunks in its header", true, FIRST(1, 8, 8, 96, 0, 1) },
	{ "a header that is too short", false, FIRST(1, 8, 8, 71, 0, 1) },
	{ "the longest", true, FIRST(6, 4096, 8, 72, 0, U32_MAX, .tx_results = U32_MAX) },
	{ "a stream that is judged later", true, FIRST(6, 4097, 8, 72, 0, 1) },
	{ "too many", false, FIRST(7, 99, 8, 72, 0, 1) },
	{ "none", false, FIRST(0, 8, 8, 72, 0, 1) },
	{ "nobody waits", false, FIRST(1, 8, 8, 72, 0, 0) },
	{ "7 bytes", false, FIRST(2, 7, 7, 71, 0, 1) },
	{ "no whole word in front of more", false, FIRST(2, 12, 9, 73, 0, 1) },
	{ "no whole word at the end", true, FIRST(2, 9, 9, 73, 0, 1) },
	{ "only one, and not all", false, FIRST(1, 12, 8, 72, 0, 1) },
	{ "more than all", false, FIRST(2, 8, 12, 76, 0, 1) },
	{ "a byte of data", true, FIRST(1, 8, 8, 257, 256, 1) },
	{ "no byte of data", false, FIRST(1, 8, 8, 256, 256, 1) },
	{ "stream up to the data", true, FIRST(1, 192, 192, 300, 256, 1) },
	{ "stream into the data", false, FIRST(1, 193, 193, 300, 256, 1) },
	{ "targets that are full", true, FIRST(1, 8, 8, 1280, 256, 1) },
	{ "targets that run over", false, FIRST(1, 8, 8, 1281, 256, 1) },
	{ "a long Reply", true, FIRST(6, U32_MAX, 8, 72, 0, 3, .tx_response = true) },
};

KUNIT_ARRAY_PARAM_DESC(group_first, group_first_cases, desc);

/* Covers: RTX-41 RTX-43 RTX-45 RTX-56 RTX-57 */
static void group_first_ones(struct kunit *test)
{
	const struct group_first_case *param = test->param_value;
	const struct rpcrdma2_transmission *tx = &param->tx;
	struct group_run run;

	group_setup(&run, test, &group_small);
	KUNIT_EXPECT_EQ(test, group_arrive(&run, tx),
			!param->good ? RPCRDMA_GROUP_BROKEN : tx->tx_count ==
			1 ? RPCRDMA_GROUP_WHOLE : RPCRDMA_GROUP_KEEP);
}

/* A second transmission. 12 bytes of the stream were not in the first one. */
struct group_next_case {
	const char	*desc;
	bool		good;
	u32		count, here, data, len;
	bool		ragged;
};

static const struct group_next_case group_next_cases[] = {
	{ "all that is left", true, 2, 12, 0, 48, false },
	{ "a word less", false, 2, 8, 0, 44, false },
	{ "a word more", false, 2, 16, 0, 52, false },
	{ "some, and more to come", true, 3, 8, 0, 44, false },
	{ "all, and data to come", true, 3, 12, 0, 48, false },
	{ "no whole word, and more to come", false, 3, 9, 0, 45, false },
	{ "a byte too few in it", false, 2, 12, 0, 47, false },
	{ "a byte too many in it", false, 2, 12, 0, 49, false },
	{ "data behind it", true, 2, 12, 256, 257, false },
	{ "data behind a part that was not full", false, 2, 12, 256, 257, true },
	{ "stream behind a part that was not full", true, 2, 12, 0, 48, true },
	{ "no data behind it", false, 2, 12, 256, 256, false },
	{ "full targets", true, 2, 12, 256, 1280, false },
	{ "targets that run over", false, 2, 12, 256, 1281, false },
	{ "data only", true, 3, 0, 256, 768, false },
	{ "nothing", false, 3, 0, 0, 36, false },
};

KUNIT_ARRAY_PARAM_DESC(group_next, group_next_cases, desc);

/* Covers: RTX-43 RTX-44 RTX-46 RTX-58 RTX-59 */
static void group_next_ones(struct kunit *test)
{
	const struct group_next_case *param = test->param_value;
	struct rpcrdma2_transmission first = {
		.tx_first = true, .tx_count = param->count, .tx_stream = 20,
		.tx_here = 8, .tx_replies = 1, .tx_data = 256,
		.tx_len = 256 + (param->ragged ? 100 : 512),
	};
	struct rpcrdma2_transmission next = {
		.tx_number = 1, .tx_offset = 8, .tx_here = param->here,
		.tx_data = param->data, .tx_len = param->len,
	};
	struct group_run run;

	group_setup(&run, test, &group_small);
	KUNIT_ASSERT_EQ(test, group_arrive(&run, &first), RPCRDMA_GROUP_KEEP);
	KUNIT_EXPECT_EQ(test, group_arrive(&run, &next),
			!param->good ? RPCRDMA_GROUP_BROKEN : param->count ==
			2 ? RPCRDMA_GROUP_WHOLE : RPCRDMA_GROUP_KEEP);
}

/* If the length of a data part is not a multiple of the segment size, no data may follow in any
 * later transmission, even if a transmission without data comes in between.
 * Covers: RTX-59
 */
static void group_ends_with_a_rest(struct kunit *test)
{
	struct rpcrdma2_transmission first = {
		.tx_first = true, .tx_count = 3, .tx_stream = 24, .tx_here = 8,
		.tx_replies = 1, .tx_data = 256, .tx_len = 256 + 100,
	};
	struct rpcrdma2_transmission between = {
		.tx_number = 1, .tx_offset = 8, .tx_here = 8, .tx_len = 36 + 8,
	};
	struct rpcrdma2_transmission more = {
		.tx_number = 2, .tx_offset = 16, .tx_here = 8, .tx_data = 256,
		.tx_len = 256 + 512,
	};
	struct group_run run;

	group_setup(&run, test, &group_small);
	KUNIT_ASSERT_EQ(test, group_arrive(&run, &first), RPCRDMA_GROUP_KEEP);
	KUNIT_ASSERT_EQ(test, group_arrive(&run, &between), RPCRDMA_GROUP_KEEP);
	KUNIT_EXPECT_EQ(test, group_arrive(&run, &more), RPCRDMA_GROUP_BROKEN);
}

struct group_judged_case {
	const char		*desc;
	u64			data;
	u32			item, msg_max;
	bool			response;
	enum rpcrdma_verdict	verdict;
};

/* Complete groups whose stream has 100 bytes: the data that arrived, and the item */
static const struct group_judged_case group_judged_cases[] = {
	{ "neither data nor item", 0, 0, 4096, false, RPCRDMA_OK },
	{ "an item without data", 0, 513, 4096, false, RPCRDMA_BAD_GROUP },
	{ "an item and its data", 513, 513, 4096, false, RPCRDMA_OK },
	{ "data without an item", 513, 0, 4096, false, RPCRDMA_BAD_GROUP },
	{ "stream and item, added up", 513, 513, 613, false, RPCRDMA_OK },
	{ "a byte more than is accepted", 513, 513, 612, false, RPCRDMA_BIG_GROUP },
	{ "an item of any length", 513, U32_MAX, 612, false, RPCRDMA_BIG_GROUP },
	{ "a stream that is too long by itself", 513, 0, 99, false, RPCRDMA_BIG_GROUP },
	{ "a Reply: no limit", 513, 513, 99, true, RPCRDMA_OK },
	{ "a Reply to a receiver without targets", 0, 1, 99, true, RPCRDMA_BAD_GROUP },
};

KUNIT_ARRAY_PARAM_DESC(group_judged, group_judged_cases, desc);

/* Covers: RTX-41 RTX-59 */
static void group_judges(struct kunit *test)
{
	const struct group_judged_case *param = test->param_value;
	struct rpcrdma_group_limits limits = group_small;
	const struct rpcrdma_group group = {
		.gr_stream = 100, .gr_data = param->data,
		.gr_response = param->response,
	};

	limits.gl_ours.xp_msg_max = param->msg_max;
	KUNIT_EXPECT_EQ(test, rpcrdma_group_check(&group, &limits, param->item),
			param->verdict);
}

/* --- layouts --------------------------------------------------------------- */

/**
 * struct group_trip - a message on its way from a sender to a receiver
 * @run: the receiver
 * @peer: what the receiver has announced, as the sender knows it
 * @layout: how the sender divides the message
 * @item: length of the item in bytes; 0 if there is none
 * @segs: maximum number of segments in a Send
 * @data: number of bytes of data sent
 */
struct group_trip {
	struct group_run	run;
	const struct rpcrdma2_rtx	*peer;
	struct rpcrdma_layout		layout;
	u32				item;
	u32				segs;
	u64				data;
};

static void group_check_part(struct group_trip *trip,
			     const struct rpcrdma_outgoing *out, bool last_part)
{
	const struct rpcrdma2_rtx *peer = trip->peer;
	struct kunit *test = trip->run.test;

	KUNIT_EXPECT_LE(test, out->og_part,
			min(peer->xp_nsegs, trip->segs) * peer->xp_seg);
	if (!last_part)
		KUNIT_EXPECT_EQ(test, out->og_part % peer->xp_seg, 0);
	KUNIT_EXPECT_EQ(test, out->og_tx.tx_data, peer->xp_head);
	KUNIT_EXPECT_LE(test, out->og_hdr + out->og_tx.tx_here, peer->xp_head);
	KUNIT_EXPECT_EQ(test, out->og_len, peer->xp_head + out->og_part);
}

/* Send one transmission, and let it arrive at the receiver. */
static void group_trip_one(struct group_trip *trip,
			   struct rpcrdma_outgoing *out, u32 count)
{
	const struct rpcrdma_layout *layout = &trip->layout;
	struct rpcrdma2_transmission *tx = &out->og_tx;
	struct kunit *test = trip->run.test;
	bool last = tx->tx_number == count - 1;

	KUNIT_EXPECT_LE(test, out->og_len, layout->ly_limit);
	if (out->og_part)
		group_check_part(trip, out,
				 layout->ly_placed == layout->ly_data);
	else
		KUNIT_EXPECT_EQ(test, out->og_len, out->og_hdr + tx->tx_here);
	if (!tx->tx_number) {
		tx->tx_first = true;
		tx->tx_count = count;
		tx->tx_stream = layout->ly_stream;
		tx->tx_replies = 1;
	}
	tx->tx_len = out->og_len;
	KUNIT_ASSERT_EQ(test, group_arrive(&trip->run, tx),
			last ? RPCRDMA_GROUP_WHOLE : RPCRDMA_GROUP_KEEP);
	trip->data += out->og_part;
}

/* Send a whole message, and check that it takes exactly rpcrdma_layout_count() transmissions. */
static void group_trip_all(struct group_trip *trip, u32 stream, u32 hdr,
			   u32 limit)
{
	struct rpcrdma_layout *layout = &trip->layout;
	struct kunit *test = trip->run.test;
	struct rpcrdma_outgoing out;
	u32 count;

	memset(layout, 0, sizeof(*layout));
	layout->ly_hdr = hdr;
	layout->ly_limit = limit;
	layout->ly_stream = stream;
	KUNIT_ASSERT_TRUE(test, rpcrdma_layout_place(layout, trip->peer,
						     trip->segs, trip->item));
	group_setup(&trip->run, test, &trip->run.limits);
	trip->data = 0;

	count = rpcrdma_layout_count(layout, 256);
	KUNIT_ASSERT_GT(test, count, 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_count(layout, count), count);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_count(layout, count - 1), 0);
	while (layout->ly_number < count) {
		KUNIT_ASSERT_TRUE(test, rpcrdma_layout_next(layout, &out));
		group_trip_one(trip, &out, count);
	}
	KUNIT_EXPECT_FALSE(test, rpcrdma_layout_next(layout, &out));
	KUNIT_EXPECT_EQ(test, trip->data, layout->ly_data);
	KUNIT_EXPECT_EQ(test, trip->run.group.gr_stream, layout->ly_sent);
	KUNIT_EXPECT_EQ(test,
			rpcrdma_group_check(&trip->run.group, &trip->run.limits,
					    trip->item), RPCRDMA_OK);
}

/* Layouts of Receives: the smallest and the largest head and segment, and common values */
struct group_grid_case {
	const char	*desc;
	u32		head, seg, nsegs, behind, segs;
};

static const struct group_grid_case group_grid_cases[] = {
	{ "smallest", 256, 512, 1, 256, 99 },
	{ "smallest, many", 256, 512, 7, 0, 99 },
	{ "the usual", 1024, 4096, 7, 0, 99 },
	{ "the usual, to a sender with few SGEs", 1024, 4096, 7, 0, 5 },
	{ "largest head", 65532, 512, 1, 0, 99 },
	{ "largest segment", 256, 65536, 1, 4, 99 },
	{ "room behind the targets", 512, 512, 3, 2000, 2 },
};

KUNIT_ARRAY_PARAM_DESC(group_grid, group_grid_cases, desc);

#define GROUP_NLENGTHS	9u

/* Send a message without an item if @which is 0, or with an item of one of nine lengths. Most of
 * these are near a multiple of the size of a segment, or of all segments of a Receive.
 */
static void group_trip_item(struct group_trip *trip, u32 which, u32 stream,
			    u32 limit)
{
	u32 seg = trip->peer->xp_seg, room = seg * trip->peer->xp_nsegs;
	const u32 lengths[GROUP_NLENGTHS + 1] = {
		0, 1, seg - 1, seg, seg + 1, room - 1, room, room + 1, 3 * room,
		3 * room + 1,
	};

	trip->item = lengths[which];
	group_trip_all(trip, stream, RPCRDMA2_RTX_MSG_MIN +
		       !!which * RPCRDMA2_RTX_ITEM_LEN, limit);
}

static void group_trip_begin(struct group_trip *trip, struct kunit *test,
			     const struct group_grid_case *param)
{
	struct rpcrdma2_rtx *ours = &trip->run.limits.gl_ours;

	memset(trip, 0, sizeof(*trip));
	trip->run.test = test;
	ours->xp_call_max = 256;
	ours->xp_msg_max = U32_MAX;
	ours->xp_head = param->head;
	ours->xp_seg = param->seg;
	ours->xp_nsegs = param->nsegs;
	trip->segs = param->segs;
}

/* Covers: RTX-41 RTX-43 RTX-44 RTX-46 RTX-55 RTX-56 RTX-57 RTX-58 RTX-59 */
static void group_grid(struct kunit *test)
{
	const struct group_grid_case *param = test->param_value;
	u32 rbsiz = param->head + param->seg * param->nsegs + param->behind;
	const u32 streams[] = {
		8, 9, param->head - 76, param->head - 72, param->head - 71,
		param->head, rbsiz - 64, rbsiz - 63, rbsiz, 2 * rbsiz + 1,
		3 * rbsiz - 3, 3 * rbsiz,
	};
	struct rpcrdma_kunit *fx = test->priv;
	struct group_trip *trip;
	struct rpcrdma2_rtx peer;
	u32 i, which;

	trip = (struct group_trip *)fx->kf_buf;
	group_trip_begin(trip, test, param);
	peer = trip->run.limits.gl_ours;
	trip->peer = &peer;
	for (i = 0; i < ARRAY_SIZE(streams); i++)
		for (which = 0; which <= GROUP_NLENGTHS; which++)
			group_trip_item(trip, which, streams[i], rbsiz);
}

/* Some of the worked examples of rtx.rst, and other messages */
struct group_plan_case {
	const char		*desc;
	u32			hdr, limit, stream, item, count;
	u32			lens[4];
};

static const struct group_plan_case group_plan_cases[] = {
	{ "WRITE of 8192", 72, 29696, 80, 8192, 1, { 9216 } },
	{ "WRITE of 65536", 72, 29696, 80, 65536, 3, { 29696, 29696, 9216 } },
	{ "long Call", 64, 29696, 100000, 0, 4, { 29696, 29696, 29696, 11084 } },
	{ "Reply of 30000", 64, 16384, 30000, 0, 2, { 16384, 13716 } },
	{ "item that ends with the transmission", 72, 29696, 80, 28672, 1, { 29696 } },
	{ "stream that ends with the transmission", 64, 29696, 29632, 0, 1, { 29696 } },
	{ "a byte more", 64, 29696, 29633, 0, 2, { 29696, 37 } },
	{ "stream beside an item", 72, 29696, 1000, 4096, 2, { 5120, 84 } },
	{ "a limit that is no whole word", 64, 29699, 29636, 0, 2, { 29696, 40 } },
};

KUNIT_ARRAY_PARAM_DESC(group_plan, group_plan_cases, desc);

/* Covers: RTX-41 RTX-55 RTX-56 */
static void group_plans(struct kunit *test)
{
	const struct group_plan_case *param = test->param_value;
	const struct rpcrdma2_rtx *peer = &group_vector_limits.gl_ours;
	struct rpcrdma_layout layout = {
		.ly_hdr = param->hdr, .ly_limit = param->limit,
		.ly_stream = param->stream,
	};
	struct rpcrdma_outgoing out;
	u32 i;

	KUNIT_ASSERT_TRUE(test,
			  rpcrdma_layout_place(&layout, peer, 99, param->item));
	KUNIT_EXPECT_EQ(test, rpcrdma_group_call(&layout, peer), param->count);
	for (i = 0; i < param->count; i++) {
		KUNIT_ASSERT_TRUE(test, rpcrdma_layout_next(&layout, &out));
		KUNIT_EXPECT_EQ(test, out.og_len, param->lens[i]);
		KUNIT_EXPECT_EQ(test, out.og_tx.tx_number, i);
	}
	KUNIT_EXPECT_FALSE(test, rpcrdma_layout_next(&layout, &out));
}

/* Covers: RTX-41 RTX-56 */
static void group_reach(struct kunit *test)
{
	struct rpcrdma2_rtx peer = group_vector_limits.gl_ours;

	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 65536), 29696);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 29696), 29696);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 29695), 25600);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 5120), 5120);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 5119), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 1023), 0);
	/* With the largest valid values, the length of head and segments does not overflow */
	peer.xp_head = 65532;
	peer.xp_seg = 65536;
	peer.xp_nsegs = 65535;
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, 65536), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, U32_MAX),
			65532 + 65535u * 65536);
	peer.xp_nsegs = 0;
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_reach(&peer, U32_MAX), 0);
}

struct group_gather_case {
	const char	*desc;
	u32		sges, offset, page, seg, want;
};

static const struct group_gather_case group_gather_cases[] = {
	{ "no SGE for data", 0, 0, 4096, 4096, 0 },
	{ "one page", 1, 0, 4096, 4096, 1 },
	{ "parts of two pages", 1, 1, 4096, 4096, 0 },
	{ "parts of two pages, and two SGEs", 2, 4095, 4096, 4096, 1 },
	{ "siw", 5, 0, 4096, 4096, 5 },
	{ "siw, inside a page", 5, 512, 4096, 4096, 4 },
	{ "rxe", 8, 0, 4096, 4096, 8 },
	{ "an offset beyond the first page", 8, 8192, 4096, 4096, 8 },
	{ "small segments", 5, 0, 4096, 512, 32 },
	{ "small segments, and one SGE", 1, 0, 4096, 2048, 0 },
	{ "large segments", 8, 0, 4096, 16384, 2 },
	{ "large segments, and too few SGEs", 3, 0, 4096, 16384, 0 },
	{ "large segments, inside a page", 8, 4, 4096, 16384, 1 },
	{ "large pages", 2, 0, 65536, 4096, 16 },
	{ "everything large", U32_MAX, 0, 65536, 65536, U32_MAX },
};

KUNIT_ARRAY_PARAM_DESC(group_gather, group_gather_cases, desc);

/* Covers: RTX-58 */
static void group_gathers(struct kunit *test)
{
	const struct group_gather_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma_layout_gather(param->sges, param->offset,
						    param->page, param->seg),
			param->want);
}

struct group_form_case {
	const char	*desc;
	u32		hdr, stream, item, call_max, msg_max, count;
};

static const struct group_form_case group_form_cases[] = {
	{ "it fits into one", 64, 80, 0, 64, 99999, 1 },
	{ "no groups are taken", 64, 80, 0, 0, 99999, 0 },
	{ "one is taken", 64, 80, 0, 1, 99999, 1 },
	{ "all bytes that are taken", 64, 80, 0, 1, 80, 1 },
	{ "a byte more", 64, 80, 0, 1, 79, 0 },
	{ "stream and item, all that is taken", 64, 80, 4096, 1, 80 + 4096, 1 },
	{ "stream and item, a byte more", 64, 80, 4096, 1, 80 + 4095, 0 },
	{ "two, and one is taken", 64, 29633, 0, 1, 99999, 0 },
	{ "two, and two are taken", 64, 29633, 0, 2, 99999, 2 },
	{ "8 bytes between header and data", 1016, 100, 4096, 2, 99999, 2 },
	{ "4 bytes between header and data", 1020, 100, 4096, 2, 99999, 0 },
	{ "no byte between header and data", 1024, 100, 4096, 2, 99999, 0 },
	{ "a header into the data", 1028, 100, 4096, 2, 99999, 0 },
	{ "8 bytes behind the header", 29688, 8, 0, 2, 99999, 1 },
	{ "4 bytes behind the header", 29692, 8, 0, 2, 99999, 0 },
	{ "a header that fills the Send", 29696, 8, 0, 2, 99999, 0 },
	{ "a header that does not fit", 29700, 8, 0, 2, 99999, 0 },
};

KUNIT_ARRAY_PARAM_DESC(group_form, group_form_cases, desc);

/* In how many transmissions a Call is sent; 0 stands for base form.
 * Covers: RTX-32 RTX-41
 */
static void group_forms(struct kunit *test)
{
	const struct group_form_case *param = test->param_value;
	struct rpcrdma2_rtx peer = group_vector_limits.gl_ours;
	struct rpcrdma_layout layout = {
		.ly_hdr = param->hdr, .ly_limit = 29696,
		.ly_stream = param->stream,
	};

	peer.xp_call_max = param->call_max;
	peer.xp_msg_max = param->msg_max;
	KUNIT_ASSERT_TRUE(test,
			  rpcrdma_layout_place(&layout, &peer, 1, param->item));
	KUNIT_EXPECT_EQ(test, rpcrdma_group_call(&layout, &peer), param->count);
}

struct group_place_case {
	const char	*desc;
	u32		limit, segs, item;
	bool		no_targets, good;
};

static const struct group_place_case group_place_cases[] = {
	{ "Sends that end with the first segment", 1024 + 4096, 9, 4096, false, true },
	{ "Sends that end before it does", 1024 + 4095, 9, 4096, false, false },
	{ "Sends that end in front of it", 1023, 9, 4096, false, false },
	{ "Sends that gather no segment", 1024 + 4096, 0, 4096, false, false },
	{ "no targets", 1024 + 4096, 9, 4096, true, false },
	{ "no targets, and no item", 1024 + 4096, 9, 0, true, true },
};

KUNIT_ARRAY_PARAM_DESC(group_place, group_place_cases, desc);

/* Covers: RTX-32 RTX-41 */
static void group_places(struct kunit *test)
{
	const struct group_place_case *param = test->param_value;
	struct rpcrdma2_rtx peer = group_vector_limits.gl_ours;
	struct rpcrdma_layout layout = {
		.ly_hdr = 64, .ly_limit = param->limit, .ly_stream = 29633,
	};

	if (param->no_targets)
		memset(&peer, 0, sizeof(peer));
	KUNIT_EXPECT_EQ(test, rpcrdma_layout_place(&layout, &peer, param->segs,
						   param->item), param->good);
	if (param->good)
		KUNIT_EXPECT_EQ(test, layout.ly_part, param->item);
}

/* --- the choice of a form -------------------------------------------------- */

struct group_credits_case {
	const char	*desc;
	bool		good;
	u32		grant, used, more, count;
};

static const struct group_credits_case group_credits_cases[] = {
	{ "one in a full window", true, 4, 4, 2, 1 },
	{ "one in a window that has shrunk", true, 1, 9, 8, 1 },
	{ "WRITE of 64K at 2 credits", false, 2, 1, 0, 3 },
	{ "WRITE of 64K at 4 credits", true, 4, 1, 0, 3 },
	{ "the same beside another Call", true, 4, 2, 0, 3 },
	{ "the same beside two others", false, 4, 3, 0, 3 },
	{ "WRITE of 1M", true, 128, 1, 0, 37 },
	{ "another one", false, 128, 38, 36, 37 },
	{ "half of the grant", true, 128, 1, 0, 65 },
	{ "one more", false, 128, 1, 0, 66 },
	{ "half, together with another one", true, 128, 38, 36, 29 },
	{ "one more, likewise", false, 128, 38, 36, 30 },
	{ "37 in flight of 64 that are 8 now", false, 8, 38, 36, 2 },
};

KUNIT_ARRAY_PARAM_DESC(group_credits, group_credits_cases, desc);

/* Covers: RTX-74 RTX-78 RTX-79 RTX-81 */
static void group_has_credits(struct kunit *test)
{
	const struct group_credits_case *param = test->param_value;

	struct rpcrdma_window win = {
		.wn_granted = param->grant, .wn_requested = param->grant,
		.wn_more = param->more,
	};

	KUNIT_EXPECT_EQ(test,
			rpcrdma_window_take_more(&win, param->used -
						 param->more, param->count - 1),
			param->good);
}

struct group_replies_case {
	const char	*desc;
	u32		reply_max, extra, most, want;
};

static const struct group_replies_case group_replies_cases[] = {
	{ "a short one", 100, 0, 8, 1 },
	{ "as long as one Receive takes", 16384 - 36, 0, 8, 1 },
	{ "the same, and nothing to spare", 16384 - 36, 0, 0, 1 },
	{ "a byte more", 16384 - 35, 0, 8, 2 },
	{ "a Write chunk in its header", 16384 - 60, 24, 8, 1 },
	{ "a Write chunk, and a byte more", 16384 - 59, 24, 8, 2 },
	{ "four Receives", 65364, 0, 8, 4 },
	{ "five Receives", 65365, 0, 8, 5 },
	{ "READDIRPLUS of 65536", 65536, 0, 8, 5 },
	{ "as long as five take", 81712, 0, 5, 5 },
	{ "a byte more than five take", 81713, 0, 5, 0 },
	{ "more than the peer makes", 65536, 0, 4, 0 },
	{ "any length", U32_MAX, 0, 256, 0 },
};

KUNIT_ARRAY_PARAM_DESC(group_replies, group_replies_cases, desc);

/* Covers: RTX-68 */
static void group_offers_receives(struct kunit *test)
{
	const struct group_replies_case *param = test->param_value;

	KUNIT_EXPECT_EQ(test, rpcrdma_group_replies(param->reply_max, 16384,
						    param->extra, param->most),
			param->want);
}

struct group_answer_case {
	const char			*desc;
	u32				body, hdr, most, chunk;
	enum rpcrdma_answer_form	form;
	u32				number;
};

static const struct group_answer_case group_answer_cases[] = {
	{ "a short one", 100, 36, 5, 0, RPCRDMA_ANSWER_INLINE, 0 },
	{ "a short one, though there is a chunk", 100, 36, 1, 65536, RPCRDMA_ANSWER_INLINE, 0 },
	{ "the longest in one", 16348, 36, 5, 0, RPCRDMA_ANSWER_INLINE, 0 },
	{ "a byte more", 16349, 36, 5, 0, RPCRDMA_ANSWER_GROUP, 2 },
	{ "all that there are Receives for", 81712, 36, 5, 0, RPCRDMA_ANSWER_GROUP, 5 },
	{ "more than that", 81713, 36, 5, 0, RPCRDMA_ANSWER_ERROR, 0 },
	{ "more than that, and a chunk", 81713, 36, 5, 81713, RPCRDMA_ANSWER_LONG, 0 },
	{ "more than that, and a chunk too short", 81713, 36, 5, 81712, RPCRDMA_ANSWER_ERROR, 0 },
	{ "more than we make", 81712, 36, 4, 0, RPCRDMA_ANSWER_ERROR, 0 },
	{ "we make none", 30000, 36, 0, 30000, RPCRDMA_ANSWER_LONG, 0 },
	{ "one Receive and a chunk", 30000, 36, 1, 65536, RPCRDMA_ANSWER_LONG, 0 },
	{ "a group rather than a chunk", 30000, 36, 2, 65536, RPCRDMA_ANSWER_GROUP, 2 },
	{ "a header that fits nowhere", 30000, 16385, 9, 65536, RPCRDMA_ANSWER_ERROR, 0 },
	{ "a header that just fits", 30000, 16384, 9, 65536, RPCRDMA_ANSWER_LONG, 0 },
	{ "any length", U32_MAX, 36, 256, 0, RPCRDMA_ANSWER_ERROR, 0 },
};

KUNIT_ARRAY_PARAM_DESC(group_answer, group_answer_cases, desc);

/* Covers: RTX-66 RTX-67 */
static void group_answers(struct kunit *test)
{
	const struct group_answer_case *param = test->param_value;
	const struct rpcrdma_layout layout = {
		.ly_hdr = param->hdr + 28, .ly_limit = 16384,
		.ly_stream = param->body,
	};
	u32 number = 99;

	KUNIT_EXPECT_EQ(test, rpcrdma_group_answer(&layout, param->hdr,
						   param->chunk, param->most,
						   &number), param->form);
	KUNIT_EXPECT_EQ(test, number, param->number);
}

static struct kunit_case group_cases[] = {
	KUNIT_CASE_PARAM(group_takes_vectors, group_vector_gen_params),
	KUNIT_CASE_PARAM(group_bad_ones, group_bad_gen_params),
	KUNIT_CASE(group_two_items),
	KUNIT_CASE_PARAM(group_breaks, group_breach_gen_params),
	KUNIT_CASE(group_breaks_if_short),
	KUNIT_CASE(group_not_announced),
	KUNIT_CASE_PARAM(group_first_ones, group_first_gen_params),
	KUNIT_CASE_PARAM(group_next_ones, group_next_gen_params),
	KUNIT_CASE(group_ends_with_a_rest),
	KUNIT_CASE_PARAM(group_judges, group_judged_gen_params),
	KUNIT_CASE_PARAM(group_grid, group_grid_gen_params),
	KUNIT_CASE_PARAM(group_plans, group_plan_gen_params),
	KUNIT_CASE_PARAM(group_forms, group_form_gen_params),
	KUNIT_CASE_PARAM(group_places, group_place_gen_params),
	KUNIT_CASE(group_reach),
	KUNIT_CASE_PARAM(group_gathers, group_gather_gen_params),
	KUNIT_CASE_PARAM(group_has_credits, group_credits_gen_params),
	KUNIT_CASE_PARAM(group_offers_receives, group_replies_gen_params),
	KUNIT_CASE_PARAM(group_answers, group_answer_gen_params),
	{}
};

static struct kunit_suite rpcrdma_group_suite = {
	.name = "rpcrdma_group",
	.init = fx_init,
	.test_cases = group_cases,
};

kunit_test_suite(rpcrdma_group_suite);
