// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/verbs/gather.c: which Receives are held or given back, and what the
 * owner of a connection (the client or the server) is told, and in which order. The tests of
 * core/group.c cover the decision about each arrival. See rtx.h for the terms.
 *
 * The connection has no queue pair. Functions of this file play the part of its owner. Receives
 * come from the connection's list of Receives that wait to be posted, and return to this list
 * when they are given back. They are never posted.
 */

#include <linux/llist.h>
#include <linux/unaligned.h>
#include <linux/workqueue.h>

#include <rpcrdma/conn.h>
#include <rpcrdma/counters.h>
#include <rpcrdma/msg.h>

#include "rpcrdma_kunit.h"

#define XID	RPCRDMA_KUNIT_XID

#define GATHER_KUNIT_RECVS	8u
#define GATHER_KUNIT_SEEN	4u
#define GATHER_KUNIT_HANDLE	0x5eedu

/* The group that most tests send */
#define GATHER_KUNIT_COUNT	3u
#define GATHER_KUNIT_STREAM	40u

static const struct rpcrdma2_transmission gather_kunit_group[GATHER_KUNIT_COUNT] = {
	{ .tx_xid = XID, .tx_first = true, .tx_count = GATHER_KUNIT_COUNT,
	  .tx_stream = GATHER_KUNIT_STREAM, .tx_here = 16 },
	{ .tx_xid = XID, .tx_number = 1, .tx_offset = 16, .tx_here = 12 },
	{ .tx_xid = XID, .tx_number = 2, .tx_offset = 28, .tx_here = 12 },
};

/* The limits of the server in vectors_rtx.h. GATHER_KUNIT_REPLIES is the largest number of Receives
 * (rtx_replies) that a Call in vectors_rtx.h offers.
 */
static const struct rpcrdma2_rtx gather_kunit_ours = {
	.xp_call_max = 64, .xp_reply_max = 16, .xp_msg_max = 1052672,
	.xp_head = 1024, .xp_seg = 4096, .xp_nsegs = 7,
};

#define GATHER_KUNIT_REPLIES	5u

enum gather_event {
	RPCRDMA_GATHER_MSG,
	RPCRDMA_GATHER_LOST,
};

/* An event that the owner has seen */
struct gather_seen {
	enum gather_event	event;
	struct rpcrdma_msg_in		*msg;
};

/**
 * struct gather_fixture - a connection, and the events that its owner has seen
 * @gf_kunit: the fixture that many suites share
 * @gf_device: device of the Receives' buffers; it needs no DMA mapping
 * @gf_conn: the connection
 * @gf_recv: its Receives
 * @gf_seen: events that the owner has seen and the test has not forgotten
 *	(gather_expect_no_more())
 * @gf_nseen: number of these events
 * @gf_looked: number of these events that the test has checked
 * @gf_owned: number of Receives of messages that the owner has not given back
 * @gf_counts: the module's counters (counters.h) at the beginning of the test
 */
struct gather_fixture {
	struct rpcrdma_kunit		*gf_kunit;
	struct ib_device		*gf_device;
	struct rpcrdma_conn		gf_conn;
	struct rpcrdma_recv		gf_recv[GATHER_KUNIT_RECVS];
	struct gather_seen	gf_seen[GATHER_KUNIT_SEEN];
	u32				gf_nseen;
	u32				gf_looked;
	u32				gf_owned;
	u64				gf_counts[RPCRDMA_CNT_MAX];
};

/* --- the owner -------------------------------------------------------------- */

static struct gather_seen *
gather_kunit_hear(struct rpcrdma_conn *conn, enum gather_event event)
{
	struct gather_fixture *fx = container_of(conn, struct gather_fixture,
						 gf_conn);
	struct gather_seen *seen;

	KUNIT_ASSERT_LT(fx->gf_kunit->kf_test, fx->gf_nseen, GATHER_KUNIT_SEEN);
	seen = &fx->gf_seen[fx->gf_nseen++];
	seen->event = event;
	return seen;
}

static void gather_kunit_receive(struct rpcrdma_conn *conn,
				 struct rpcrdma_msg_in *msg)
{
	struct gather_fixture *fx = container_of(conn, struct gather_fixture,
						 gf_conn);

	gather_kunit_hear(conn, RPCRDMA_GATHER_MSG)->msg = msg;
	fx->gf_owned += rpcrdma_msg_recvs(msg);
}

/* This function may run in a workqueue, where KUNIT_ASSERT must not be used. */
static void gather_kunit_lost(struct rpcrdma_conn *conn)
{
	struct gather_fixture *fx = container_of(conn, struct gather_fixture,
						 gf_conn);

	if (fx->gf_nseen < GATHER_KUNIT_SEEN)
		fx->gf_seen[fx->gf_nseen++].event = RPCRDMA_GATHER_LOST;
}

static const struct rpcrdma_conn_ops gather_kunit_ops = {
	.receive	= gather_kunit_receive, .lost		= gather_kunit_lost,
};

static const struct gather_seen *
gather_look(struct gather_fixture *fx, enum gather_event event)
{
	struct kunit *test = fx->gf_kunit->kf_test;
	const struct gather_seen *seen = &fx->gf_seen[fx->gf_looked];

	KUNIT_ASSERT_LT(test, fx->gf_looked, fx->gf_nseen);
	KUNIT_ASSERT_EQ(test, seen->event, event);
	fx->gf_looked++;
	return seen;
}

/* Expect that the test has checked all events, and forget them. */
static void gather_expect_no_more(struct gather_fixture *fx)
{
	KUNIT_ASSERT_EQ(fx->gf_kunit->kf_test, fx->gf_looked, fx->gf_nseen);
	fx->gf_looked = 0;
	fx->gf_nseen = 0;
}

static struct rpcrdma_msg_in *
gather_expect_msg(struct gather_fixture *fx, bool group)
{
	struct rpcrdma_msg_in *msg;

	msg = gather_look(fx, RPCRDMA_GATHER_MSG)->msg;
	KUNIT_EXPECT_EQ(fx->gf_kunit->kf_test, rpcrdma_msg_is_group(msg),
			group);
	return msg;
}

/* Expect that the connection was closed because the peer broke a rule. */
static void gather_expect_lost(struct gather_fixture *fx)
{
	gather_look(fx, RPCRDMA_GATHER_LOST);
	KUNIT_EXPECT_EQ(fx->gf_kunit->kf_test, fx->gf_conn.cn_error, -EPROTO);
}

static u64 gather_counted(const struct gather_fixture *fx,
			  enum rpcrdma_counter which)
{
	return rpcrdma_counter_read(which) - fx->gf_counts[which];
}

/* --- Receives --------------------------------------------------------------- */

static u32 gather_waiting(const struct gather_fixture *fx)
{
	return atomic_read(&fx->gf_conn.cn_recvs.rp_nwaiting);
}

/* Check that each Receive is held by the group, is held by the owner, or waits to be posted. The
 * group must hold Receives only if it is not complete.
 */
static void gather_kunit_check(struct gather_fixture *fx)
{
	const struct rpcrdma_gather *gather = &fx->gf_conn.cn_gather;
	const struct rpcrdma_group *group = &gather->ga_group;
	struct kunit *test = fx->gf_kunit->kf_test;
	const struct rpcrdma_recv *recv;
	u32 held = 0;

	for (recv = gather->ga_first; recv; recv = recv->rv_msg.mi_more) {
		KUNIT_ASSERT_LT(test, held, GATHER_KUNIT_RECVS);
		KUNIT_EXPECT_EQ(test, atomic_read(&recv->rv_state),
				RPCRDMA_RECV_HELD);
		held++;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&fx->gf_conn.cn_recvs.rp_nheld),
			held + fx->gf_owned);
	KUNIT_EXPECT_EQ(test, gather_waiting(fx),
			GATHER_KUNIT_RECVS - held - fx->gf_owned);
	/* If a transmission has broken the group, the group may count it, but does not hold it */
	if (fx->gf_conn.cn_error)
		return;
	KUNIT_EXPECT_EQ(test, held, (group->gr_number < group->gr_count) ?
			group->gr_number : 0);
	KUNIT_EXPECT_EQ(test, !gather->ga_begun,
			!(group->gr_number < group->gr_count));
}

/* Put a message in a Receive, and pass it on as rpcrdma_recv_wc_done() does. @handle is the handle
 * that the Send has invalidated, or 0.
 */
static void gather_arrive(struct gather_fixture *fx, void *data, u32 len,
			  u32 handle)
{
	struct rpcrdma_conn *conn = &fx->gf_conn;
	struct llist_node *node = llist_del_first(&conn->cn_recvs.rp_waiting);
	struct rpcrdma_recv *recv;

	KUNIT_ASSERT_NOT_NULL(fx->gf_kunit->kf_test, node);
	recv = llist_entry(node, struct rpcrdma_recv, rv_free);
	atomic_dec(&conn->cn_recvs.rp_nwaiting);
	atomic_inc(&conn->cn_recvs.rp_nheld);
	atomic_set(&recv->rv_state, RPCRDMA_RECV_HELD);
	recv->rv_buf.bf_data = data;
	recv->rv_buf.bf_size = len;
	recv->rv_len = len;
	recv->rv_msg.mi_invalidated = handle;
	recv->rv_msg.mi_inv_rkey = handle;
	conn->cn_receive(conn, &recv->rv_msg);
	gather_kunit_check(fx);
}

/* The owner gives a message back. */
static void gather_give(struct gather_fixture *fx, struct rpcrdma_msg_in *msg)
{
	fx->gf_owned -= rpcrdma_msg_recvs(msg);
	rpcrdma_msg_put(msg);
	gather_kunit_check(fx);
}

/* --- transmissions ---------------------------------------------------------- */

/* Build a transmission. The value of each byte of the stream is its offset in the stream. */
static void gather_build(struct rpcrdma_kunit *kunit,
			 const struct rpcrdma2_transmission *tx)
{
	u32 i;

	fx_message(kunit, tx->tx_xid, RPCRDMA_VERS_2, 32,
		   tx->tx_first ? RPCRDMA2_RTX_MSG : RPCRDMA2_RTX_NEXT,
		   tx->tx_response ? RPCRDMA2_F_RESPONSE : 0);
	if (tx->tx_first)
		fx_say(kunit, tx->tx_count, tx->tx_stream, tx->tx_here, 0,
		       !tx->tx_response, 0, tx->tx_nitems, 0, 0, 0, 0);
	else
		fx_say(kunit, tx->tx_number, tx->tx_offset, tx->tx_here, 0);
	for (i = 0; i < tx->tx_here; i++)
		kunit->kf_buf[kunit->kf_len++] = tx->tx_offset + i;
}

static void gather_send(struct gather_fixture *fx,
			const struct rpcrdma2_transmission *tx, u32 handle)
{
	struct rpcrdma_kunit *kunit = fx->gf_kunit;

	gather_build(kunit, tx);
	gather_arrive(fx, fx_exact(kunit, kunit->kf_buf, kunit->kf_len),
		      kunit->kf_len, handle);
}

/* Send transmission @number of gather_kunit_group. The group is a Reply if @response is true, or
 * else a Call.
 */
static void gather_part(struct gather_fixture *fx, u32 number, bool response,
			u32 handle)
{
	struct rpcrdma2_transmission tx = gather_kunit_group[number];

	tx.tx_response = response;
	gather_send(fx, &tx, handle);
}

static void gather_call(struct gather_fixture *fx, u32 number)
{
	gather_part(fx, number, false, 0);
}

static void gather_vector(struct gather_fixture *fx, enum rpcrdma_vector_id id)
{
	u32 len;
	u8 *data = fx_whole(fx->gf_kunit, id, &len);

	gather_arrive(fx, data, len, 0);
}

/* Check that the body of a message has @stream bytes, as gather_build() made them. */
static void gather_check_body(struct gather_fixture *fx,
			      struct rpcrdma_msg_in *msg, u32 stream)
{
	struct kunit *test = fx->gf_kunit->kf_test;
	u8 body[2 * GATHER_KUNIT_STREAM];
	u32 i;

	rpcrdma_msg_set_body(msg, RPCRDMA2_RTX_MSG_MIN,
			     get_unaligned_be32(rpcrdma_msg_head(msg) + 28));
	KUNIT_ASSERT_EQ(test, rpcrdma_msg_body_len(msg), stream);
	KUNIT_ASSERT_LE(test, stream, sizeof(body));
	rpcrdma_msg_copy(msg, 0, body, stream);
	for (i = 0; i < stream; i++)
		KUNIT_EXPECT_EQ(test, body[i], i);
}

/* --- set-up ----------------------------------------------------------------- */

static void gather_kunit_fill(struct gather_fixture *fx)
{
	struct rpcrdma_recv_pool *pool = &fx->gf_conn.cn_recvs;
	struct rpcrdma_recv *recv;
	u32 i;

	/* A batch that is never complete, so that nothing is posted */
	pool->rp_batch = U32_MAX;
	for (i = 0; i < GATHER_KUNIT_RECVS; i++) {
		recv = &fx->gf_recv[i];
		recv->rv_conn = &fx->gf_conn;
		recv->rv_buf.bf_device = fx->gf_device;
		recv->rv_buf.bf_dir = DMA_FROM_DEVICE;
		llist_add(&recv->rv_free, &pool->rp_waiting);
		atomic_inc(&pool->rp_nwaiting);
	}
}

static int gather_kunit_init(struct kunit *test)
{
	struct gather_fixture *fx;
	u32 i;

	/* These tests need a device whose buffers need no DMA synchronisation */
	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		kunit_skip(test, "no devices without DMA");
	if (fx_init(test))
		return -ENOMEM;
	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	if (!fx)
		return -ENOMEM;
	fx->gf_kunit = test->priv;
	test->priv = NULL;
	fx->gf_device = kunit_kzalloc(test, sizeof(*fx->gf_device), GFP_KERNEL);
	if (!fx->gf_device)
		return -ENOMEM;
	rpcrdma_conn_init(&fx->gf_conn, &gather_kunit_ops);
	gather_kunit_fill(fx);
	for (i = 0; i < RPCRDMA_CNT_MAX; i++)
		fx->gf_counts[i] = rpcrdma_counter_read(i);
	test->priv = fx;
	return 0;
}

static void gather_kunit_exit(struct kunit *test)
{
	struct gather_fixture *fx = test->priv;

	if (fx)
		rpcrdma_gather_stop(&fx->gf_conn);
}

/* Start gathering, so that groups may arrive. */
static struct gather_fixture *gather_kunit_start(struct kunit *test)
{
	struct gather_fixture *fx = test->priv;

	rpcrdma_gather_start(&fx->gf_conn, &gather_kunit_ours,
			     GATHER_KUNIT_REPLIES);
	return fx;
}

/* --- complete groups -------------------------------------------------------- */

/* An owner that has not called rpcrdma_gather_start() gets each transmission as a message. */
static void gather_only_when_told(struct kunit *test)
{
	struct gather_fixture *fx = test->priv;
	u32 i;

	for (i = 0; i < GATHER_KUNIT_COUNT; i++) {
		gather_call(fx, i);
		gather_give(fx, gather_expect_msg(fx, false));
		gather_expect_no_more(fx);
	}
}

/* The owner is told nothing before the group is complete.
 * Covers: RTX-43 RTX-46
 */
static void gather_hands_up_whole(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma_msg_in *msg;
	u32 i;

	for (i = 0; i < GATHER_KUNIT_COUNT; i++) {
		gather_expect_no_more(fx);
		gather_call(fx, i);
	}
	msg = gather_expect_msg(fx, true);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_EQ(test, msg->mi_verdict, RPCRDMA_OK);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msg), GATHER_KUNIT_COUNT);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_len(msg), RPCRDMA2_RTX_MSG_MIN +
			2 * RPCRDMA2_RTX_NEXT_LEN + GATHER_KUNIT_STREAM);
	gather_check_body(fx, msg, GATHER_KUNIT_STREAM);
	gather_give(fx, msg);
	KUNIT_EXPECT_EQ(test, gather_waiting(fx), GATHER_KUNIT_RECVS);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_received),
			1);
}

/* An owner may hold one group while the next one arrives. */
static void gather_one_after_the_other(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma_msg_in *first, *second;
	u32 i;

	for (i = 0; i < 2 * GATHER_KUNIT_COUNT; i++)
		gather_call(fx, i % GATHER_KUNIT_COUNT);
	first = gather_expect_msg(fx, true);
	second = gather_expect_msg(fx, true);
	gather_expect_no_more(fx);
	gather_check_body(fx, second, GATHER_KUNIT_STREAM);
	gather_give(fx, second);
	gather_check_body(fx, first, GATHER_KUNIT_STREAM);
	gather_give(fx, first);
}

/* A Receive that was part of a group is used again, for a message that is not a group, or for a
 * group of one transmission. The new message does not contain anything of the old group.
 */
static void gather_leaves_nothing_behind(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma_msg_in *msgs[GATHER_KUNIT_RECVS];
	u32 i;

	for (i = 0; i < GATHER_KUNIT_COUNT; i++)
		gather_call(fx, i);
	gather_give(fx, gather_expect_msg(fx, true));
	gather_expect_no_more(fx);
	/* Use all Receives, those of the old group among them */
	for (i = 0; i < GATHER_KUNIT_RECVS; i++) {
		gather_vector(fx, i % 2 ? VEC_V2_MSG_INV : VEC_RTX_READDIR);
		msgs[i] = gather_expect_msg(fx, i % 2 == 0);
		gather_expect_no_more(fx);
		KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msgs[i]), 1);
		KUNIT_EXPECT_TRUE(test, rpcrdma_msg_is_flat(msgs[i]));
		KUNIT_EXPECT_EQ(test, rpcrdma_msg_len(msgs[i]),
				rpcrdma_msg_head_room(msgs[i]));
	}
	for (i = 0; i < GATHER_KUNIT_RECVS; i++)
		gather_give(fx, msgs[i]);
}

struct gather_vector_case {
	const char		*desc;
	enum rpcrdma_vector_id	first;
	u32			count, msg_max;
	enum rpcrdma_verdict	verdict;
};

static const struct gather_vector_case gather_vectors[] = {
	{ "WRITE of 8192", VEC_RTX_WRITE_8K, 1, 1052672 },
	{ "WRITE of 65536", VEC_RTX_WRITE_64K_1, 3, 1052672 },
	{ "WRITE of 65536, too large with its item", VEC_RTX_WRITE_64K_1, 3, 65536,
	  RPCRDMA_BIG_GROUP },
	{ "long Call", VEC_RTX_LONG_1, 4, 1052672 },
	{ "Reply", VEC_RTX_REPLY_1, 2, 1052672 },
	{ "two items", VEC_RTX_TWO_ITEMS, 1, 1052672, RPCRDMA_BAD_GROUP },
};

KUNIT_ARRAY_PARAM_DESC(gather_vector, gather_vectors, desc);

/* The items are checked when the group is complete. The owner gets the verdict with the group.
 * Covers: RTX-45 RTX-59
 */
static void gather_judges(struct kunit *test)
{
	const struct gather_vector_case *param = test->param_value;
	struct gather_fixture *fx = test->priv;
	struct rpcrdma2_rtx ours = gather_kunit_ours;
	struct rpcrdma_msg_in *msg;
	u32 i;

	ours.xp_msg_max = param->msg_max;
	rpcrdma_gather_start(&fx->gf_conn, &ours, GATHER_KUNIT_REPLIES);
	for (i = 0; i < param->count; i++)
		gather_vector(fx, param->first + i);
	msg = gather_expect_msg(fx, true);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_EQ(test, msg->mi_verdict, param->verdict);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msg), param->count);
	gather_give(fx, msg);
}

/* If the header announces more items than are allowed, the owner gets a bad verdict, and nothing
 * behind the transmission is read.
 * Covers: RTX-45
 */
static void gather_bounds_items(struct kunit *test)
{
	static const u32 nitems[] = { RPCRDMA2_RTX_MAX_ITEMS + 1, 17, U32_MAX };
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma2_transmission tx = gather_kunit_group[0];
	struct rpcrdma_msg_in *msg;
	u32 i;

	tx.tx_count = 1;
	tx.tx_stream = tx.tx_here;
	for (i = 0; i < ARRAY_SIZE(nitems); i++) {
		tx.tx_nitems = nitems[i];
		gather_send(fx, &tx, 0);
		msg = gather_expect_msg(fx, true);
		gather_expect_no_more(fx);
		KUNIT_EXPECT_EQ(test, msg->mi_verdict, RPCRDMA_BAD_GROUP);
		gather_give(fx, msg);
	}
}

/* --- broken groups ---------------------------------------------------------- */

/* The connection must have been closed. What arrives now is given back, and the owner is not told
 * of it. Receives that the group has held stay with it until the connection ends.
 */
static void gather_expect_broken(struct gather_fixture *fx, u32 held)
{
	struct kunit *test = fx->gf_kunit->kf_test;
	u32 i;

	gather_expect_lost(fx);
	gather_expect_no_more(fx);
	for (i = 0; i < GATHER_KUNIT_COUNT; i++)
		gather_call(fx, i);
	gather_vector(fx, VEC_V2_MSG_INV);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_EQ(test, gather_waiting(fx), GATHER_KUNIT_RECVS - held);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_broken), 1);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_received),
			0);
	rpcrdma_gather_stop(&fx->gf_conn);
	rpcrdma_gather_end(&fx->gf_conn);
	KUNIT_EXPECT_NULL(test, fx->gf_conn.cn_gather.ga_first);
}

/* A transmission is not the one that is due.
 * Covers: RTX-48
 */
static void gather_gap(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma2_transmission tx = gather_kunit_group[1];

	gather_call(fx, 0);
	gather_call(fx, 1);
	tx.tx_offset += 4;
	gather_send(fx, &tx, 0);
	gather_expect_broken(fx, 2);
}

/* Another message arrives while a group is open. It is not handed up.
 * Covers: RTX-47 RTX-48 RTX-50
 */
static void gather_is_cut(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);

	gather_part(fx, 0, true, 0);
	gather_vector(fx, VEC_V2_MSG_REPLY);
	gather_expect_broken(fx, 1);
}

/* The first transmission is bad.
 * Covers: RTX-48 RTX-84
 */
static void gather_bad_first(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma2_transmission tx = gather_kunit_group[0];

	tx.tx_count = gather_kunit_ours.xp_call_max + 1;
	gather_send(fx, &tx, 0);
	gather_expect_broken(fx, 0);
}

/* A transmission belongs to no group.
 * Covers: RTX-48
 */
static void gather_unexpected(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);

	gather_call(fx, 1);
	gather_expect_broken(fx, 0);
}

/* --- invalidation ----------------------------------------------------------- */

/* Covers: RTX-73 */
static void gather_last_invalidates(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	struct rpcrdma_msg_in *msg;

	gather_part(fx, 0, true, 0);
	gather_part(fx, 1, true, 0);
	gather_part(fx, 2, true, GATHER_KUNIT_HANDLE);
	msg = gather_expect_msg(fx, true);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_TRUE(test, msg->mi_invalidated);
	KUNIT_EXPECT_EQ(test, msg->mi_inv_rkey, GATHER_KUNIT_HANDLE);
	KUNIT_EXPECT_EQ(test, fx->gf_conn.cn_error, 0);
	gather_give(fx, msg);
}

static const u32 gather_early[] = { 0, 1 };

static void gather_early_desc(const u32 *number, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "with transmission %u", *number);
}

KUNIT_ARRAY_PARAM(gather_early, gather_early, gather_early_desc);

/* If a Send that is not the last one invalidates a handle, the connection is closed.
 * Covers: RTX-73
 */
static void gather_early_invalidation(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	u32 early = *(const u32 *)test->param_value;
	u32 i;

	for (i = 0; i < early; i++)
		gather_part(fx, i, true, 0);
	gather_part(fx, early, true, GATHER_KUNIT_HANDLE);
	gather_expect_broken(fx, early);
}

/* --- the time limit --------------------------------------------------------- */

/* Make the group older by @by jiffies, and run the work that checks its age. */
static void gather_later(struct gather_fixture *fx, unsigned long by)
{
	struct rpcrdma_gather *gather = &fx->gf_conn.cn_gather;

	if (gather->ga_begun)
		gather->ga_begun -= by;
	KUNIT_ASSERT_TRUE(fx->gf_kunit->kf_test,
			  delayed_work_pending(&gather->ga_work));
	flush_delayed_work(&gather->ga_work);
}

/* Does the work that checks the age of the group wait for its timer? Do not ask whether the work is
 * pending: on older kernels, a disabled work item counts as pending (include/compat/disable_work).
 */
static bool gather_watches(struct gather_fixture *fx)
{
	return timer_pending(&fx->gf_conn.cn_gather.ga_work.timer);
}

/* Covers: RTX-85 */
static void gather_takes_too_long(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);

	gather_call(fx, 0);
	gather_later(fx, RPCRDMA_GATHER_TIMEOUT / 2);
	gather_expect_no_more(fx);
	/* Later transmissions do not restart the clock. */
	gather_call(fx, 1);
	gather_later(fx, RPCRDMA_GATHER_TIMEOUT / 2 + 2);
	gather_expect_lost(fx);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_broken), 1);
	KUNIT_EXPECT_FALSE(test, gather_watches(fx));
}

/* Each group has its own time limit, and a complete group has none.
 * Covers: RTX-85
 */
static void gather_is_in_time(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	u32 i;

	KUNIT_EXPECT_FALSE(test, gather_watches(fx));
	for (i = 0; i < GATHER_KUNIT_COUNT; i++)
		gather_call(fx, i);
	gather_give(fx, gather_expect_msg(fx, true));
	gather_later(fx, 0);
	KUNIT_EXPECT_FALSE(test, gather_watches(fx));

	gather_call(fx, 0);
	fx->gf_conn.cn_gather.ga_begun -= RPCRDMA_GATHER_TIMEOUT;
	/* This group is complete, and the next one begins, before the work checks the age */
	gather_call(fx, 1);
	gather_call(fx, 2);
	gather_give(fx, gather_expect_msg(fx, true));
	gather_call(fx, 0);
	gather_later(fx, 0);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_TRUE(test, gather_watches(fx));
}

/* --- the end of the connection ---------------------------------------------- */

/* When the connection ends, the Receives of an open group are not returned to the list of Receives
 * to be posted, and the owner is not told of the group.
 * Covers: RTX-86
 */
static void gather_forgets(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	u32 i;

	gather_call(fx, 0);
	gather_call(fx, 1);
	rpcrdma_gather_stop(&fx->gf_conn);
	KUNIT_EXPECT_FALSE(test, gather_watches(fx));
	rpcrdma_gather_end(&fx->gf_conn);
	gather_expect_no_more(fx);
	KUNIT_EXPECT_NULL(test, fx->gf_conn.cn_gather.ga_first);
	KUNIT_EXPECT_EQ(test, gather_waiting(fx), GATHER_KUNIT_RECVS - 2);
	for (i = 0; i < GATHER_KUNIT_RECVS; i++) {
		KUNIT_EXPECT_EQ(test, atomic_read(&fx->gf_recv[i].rv_state),
				RPCRDMA_RECV_OURS);
		KUNIT_EXPECT_NULL(test, fx->gf_recv[i].rv_msg.mi_more);
	}
	/* A second call has nothing to do */
	rpcrdma_gather_end(&fx->gf_conn);
}

/* --- random messages -------------------------------------------------------- */

static void gather_change(struct rpcrdma_kunit *kunit,
			  struct rpcrdma2_transmission *tx)
{
	switch (fx_random(kunit, 6)) {
	case 0:
		tx->tx_xid++;
		break;
	case 1:
		tx->tx_count = fx_random(kunit, 7);
		break;
	case 2:
		tx->tx_stream = fx_random(kunit, 50);
		break;
	case 3:
		tx->tx_number = fx_random(kunit, 5);
		break;
	case 4:
		tx->tx_here = fx_random(kunit, 20);
		break;
	default:
		tx->tx_response = true;
		break;
	}
}

/* Send a random transmission. Often it is the one that is due, so that some groups become complete.
 * Sometimes it is truncated.
 */
static void gather_send_any(struct gather_fixture *fx)
{
	struct rpcrdma_kunit *kunit = fx->gf_kunit;
	const struct rpcrdma_group *group = &fx->gf_conn.cn_gather.ga_group;
	struct rpcrdma2_transmission tx;
	u32 number = group->gr_number;

	if (!fx_random(kunit, 4) || group->gr_number == group->gr_count)
		number = fx_random(kunit, 12);
	if (number >= GATHER_KUNIT_COUNT)
		number = 0;
	tx = gather_kunit_group[number];
	if (!fx_random(kunit, 6))
		gather_change(kunit, &tx);
	gather_build(kunit, &tx);
	if (!fx_random(kunit, 20))
		kunit->kf_len = 1 + fx_random(kunit, kunit->kf_len);
	gather_arrive(fx, fx_exact(kunit, kunit->kf_buf, kunit->kf_len),
		      kunit->kf_len, 0);
}

/* Count the groups that the owner got. Check their bodies, and give all messages back. Returns true
 * if the connection was closed.
 */
static bool gather_hear_all(struct gather_fixture *fx, u32 *groups)
{
	const struct rpcrdma_group *group = &fx->gf_conn.cn_gather.ga_group;
	struct gather_seen *seen;
	bool lost = false;

	for (; fx->gf_looked < fx->gf_nseen; fx->gf_looked++) {
		seen = &fx->gf_seen[fx->gf_looked];
		if (seen->event == RPCRDMA_GATHER_LOST) {
			lost = true;
			continue;
		}
		if (rpcrdma_msg_is_group(seen->msg)) {
			++*groups;
			gather_check_body(fx, seen->msg, group->gr_stream);
		}
		gather_give(fx, seen->msg);
	}
	gather_expect_no_more(fx);
	return lost;
}

/* Whatever arrives, no Receive is lost, none is given back twice, and each group that is passed on
 * has all of its stream. If a connection was closed, go on with a new one.
 * Covers: RTX-43 RTX-47 RTX-84
 */
static void gather_anything(struct kunit *test)
{
	struct gather_fixture *fx = gather_kunit_start(test);
	u32 i, groups = 0, losses = 0;

	for (i = 0; i < 3000; i++) {
		gather_send_any(fx);
		if (!gather_hear_all(fx, &groups))
			continue;
		losses++;
		rpcrdma_gather_stop(&fx->gf_conn);
		rpcrdma_gather_end(&fx->gf_conn);
		memset(fx->gf_recv, 0, sizeof(fx->gf_recv));
		rpcrdma_conn_init(&fx->gf_conn, &gather_kunit_ops);
		gather_kunit_fill(fx);
		gather_kunit_start(test);
	}
	KUNIT_EXPECT_GT(test, groups, 100);
	KUNIT_EXPECT_GT(test, losses, 100);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_received),
			groups);
	KUNIT_EXPECT_EQ(test, gather_counted(fx, RPCRDMA_CNT_groups_broken),
			losses);
}

static struct kunit_case gather_kunit_cases[] = {
	KUNIT_CASE(gather_only_when_told),
	KUNIT_CASE(gather_hands_up_whole),
	KUNIT_CASE(gather_one_after_the_other),
	KUNIT_CASE(gather_leaves_nothing_behind),
	KUNIT_CASE_PARAM(gather_judges, gather_vector_gen_params),
	KUNIT_CASE(gather_bounds_items),
	KUNIT_CASE(gather_gap),
	KUNIT_CASE(gather_is_cut),
	KUNIT_CASE(gather_bad_first),
	KUNIT_CASE(gather_unexpected),
	KUNIT_CASE(gather_last_invalidates),
	KUNIT_CASE_PARAM(gather_early_invalidation, gather_early_gen_params),
	KUNIT_CASE(gather_takes_too_long),
	KUNIT_CASE(gather_is_in_time),
	KUNIT_CASE(gather_forgets),
	KUNIT_CASE(gather_anything),
	{}
};

static struct kunit_suite rpcrdma_gather_suite = {
	.name = "rpcrdma_gather",
	.init = gather_kunit_init,
	.exit = gather_kunit_exit,
	.test_cases = gather_kunit_cases,
};

kunit_test_suite(rpcrdma_gather_suite);
