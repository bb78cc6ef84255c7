// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of received messages (msg.h, net/verbs/gather.c): finding the pieces of the body of
 * a message that came in one Receive or in several, and giving back all Receives but the first.
 * rpcrdma_buf_kunit.c tests the functions of msg.h for blocks of pages and for placed data (rtx.h).
 */

#include <kunit/test.h>

#include <rpcrdma/msg.h>

#define MSG_KUNIT_RECVS	4
#define MSG_KUNIT_SIZE	32
#define MSG_KUNIT_BODY	29

/* For each Receive, the offset in its buffer at which its part of the body begins, and the length
 * of this part. A part may be empty. Each part ends at the end of the buffer.
 */
static const u32 msg_kunit_at[MSG_KUNIT_RECVS] = { 28, 32, 31, 8 };

static const u32 msg_kunit_here[MSG_KUNIT_RECVS] = { 4, 0, 1, 24 };

struct msg_fixture {
	struct rpcrdma_recv	mf_recv[MSG_KUNIT_RECVS];
	u8			mf_buf[MSG_KUNIT_RECVS][MSG_KUNIT_SIZE];
	u8			mf_body[MSG_KUNIT_BODY];
	u8			mf_copy[MSG_KUNIT_BODY + 1];
};

/* Fill the Receives with 0xbd, and their parts of the body with 0, 1, 2... */
static void msg_fill(struct msg_fixture *fx)
{
	u32 i, j, pos = 0;

	memset(fx->mf_buf, 0xbd, sizeof(fx->mf_buf));
	for (i = 0; i < MSG_KUNIT_RECVS; i++) {
		fx->mf_recv[i].rv_len = MSG_KUNIT_SIZE;
		fx->mf_recv[i].rv_buf.bf_data = fx->mf_buf[i];
		for (j = 0; j < msg_kunit_here[i]; j++, pos++)
			fx->mf_buf[i][msg_kunit_at[i] + j] = pos;
		rpcrdma_msg_set_body(&fx->mf_recv[i].rv_msg, msg_kunit_at[i],
				     msg_kunit_here[i]);
	}
	for (i = 0; i < MSG_KUNIT_BODY; i++)
		fx->mf_body[i] = i;
}

/* Link all Receives into one message */
static struct rpcrdma_msg_in *msg_join(struct msg_fixture *fx)
{
	struct rpcrdma_msg_in *msg = &fx->mf_recv[0].rv_msg;
	u32 i;

	msg_fill(fx);
	for (i = 1; i < MSG_KUNIT_RECVS; i++) {
		fx->mf_recv[i - 1].rv_msg.mi_more = &fx->mf_recv[i];
		msg->mi_more_recvs++;
		msg->mi_more_len += fx->mf_recv[i].rv_len;
		msg->mi_more_body += fx->mf_recv[i].rv_msg.mi_here;
	}
	return msg;
}

static struct msg_fixture *msg_make(struct kunit *test)
{
	struct msg_fixture *fx;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	return fx;
}

/* Every range of a body is copied correctly, even if it begins or ends where the part of the body
 * in one Receive does.
 */
static void msg_finds_all_parts(struct kunit *test)
{
	struct msg_fixture *fx = msg_make(test);
	struct rpcrdma_msg_in *msg = msg_join(fx);
	u32 offset, len;

	KUNIT_ASSERT_EQ(test, rpcrdma_msg_body_len(msg), MSG_KUNIT_BODY);
	KUNIT_EXPECT_FALSE(test, rpcrdma_msg_is_flat(msg));
	for (offset = 0; offset <= MSG_KUNIT_BODY; offset++) {
		for (len = 0; len <= MSG_KUNIT_BODY - offset; len++) {
			memset(fx->mf_copy, 0xee, sizeof(fx->mf_copy));
			rpcrdma_msg_copy(msg, offset, fx->mf_copy, len);
			KUNIT_EXPECT_MEMEQ(test, fx->mf_copy,
					   fx->mf_body + offset, len);
			KUNIT_EXPECT_EQ(test, fx->mf_copy[len], 0xee);
		}
	}
}

/* A walk over the body skips Receives that have no byte of the body, and ends (mp_len is 0) where
 * the body ends.
 */
static void msg_has_no_empty_pieces(struct kunit *test)
{
	struct msg_fixture *fx = msg_make(test);
	struct rpcrdma_msg_in *msg = msg_join(fx);
	struct rpcrdma_msg_piece piece;
	u32 pieces = 0, bytes = 0;

	/* Ask for more than the body has */
	for (rpcrdma_msg_piece_first(msg, 0, U32_MAX, &piece); piece.mp_len;
	     rpcrdma_msg_piece_next(&piece)) {
		pieces++;
		bytes += piece.mp_len;
	}
	KUNIT_EXPECT_EQ(test, pieces, 3);
	KUNIT_EXPECT_EQ(test, bytes, MSG_KUNIT_BODY);

	rpcrdma_msg_piece_first(msg, MSG_KUNIT_BODY + 1, 1, &piece);
	KUNIT_EXPECT_EQ(test, piece.mp_len, 0);
}

/* The body of a message of one Receive is contiguous ("flat"). */
static void msg_of_one_is_flat(struct kunit *test)
{
	struct msg_fixture *fx = msg_make(test);
	struct rpcrdma_msg_in *msg;
	struct rpcrdma_msg_piece piece;

	msg_fill(fx);
	msg = &fx->mf_recv[3].rv_msg;
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msg), 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_len(msg), MSG_KUNIT_SIZE);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_head_room(msg), MSG_KUNIT_SIZE);
	KUNIT_EXPECT_PTR_EQ(test, rpcrdma_msg_head(msg),
			    (const void *)fx->mf_buf[3]);
	KUNIT_EXPECT_TRUE(test, rpcrdma_msg_is_flat(msg));
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_body_len(msg), 24);
	KUNIT_EXPECT_PTR_EQ(test, rpcrdma_msg_body(msg),
			    (void *)fx->mf_buf[3] + 8);

	rpcrdma_msg_piece_first(msg, 5, 3, &piece);
	KUNIT_EXPECT_PTR_EQ(test, piece.mp_data, (void *)fx->mf_buf[3] + 13);
	KUNIT_EXPECT_EQ(test, piece.mp_len, 3);
	rpcrdma_msg_piece_next(&piece);
	KUNIT_EXPECT_EQ(test, piece.mp_len, 0);
}

static void msg_kunit_give(struct rpcrdma_recv *recv)
{
	recv->rv_msg.mi_inv_rkey++;
}

/* rpcrdma_msg_give_more() gives back each Receive of a message except the first, and each of them
 * once. Afterwards, each Receive is a message of its own.
 */
static void msg_gives_back_all(struct kunit *test)
{
	struct msg_fixture *fx = msg_make(test);
	struct rpcrdma_msg_in *msg = msg_join(fx);
	u32 i;

	KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msg), MSG_KUNIT_RECVS);
	KUNIT_EXPECT_EQ(test, rpcrdma_msg_len(msg),
			MSG_KUNIT_RECVS * MSG_KUNIT_SIZE);
	rpcrdma_msg_give_more(msg, msg_kunit_give);
	for (i = 0; i < MSG_KUNIT_RECVS; i++) {
		msg = &fx->mf_recv[i].rv_msg;
		/* rpcrdma_msg_give_more() leaves the first Receive to its caller */
		KUNIT_EXPECT_EQ(test, fx->mf_recv[i].rv_msg.mi_inv_rkey,
				i ? 1 : 0);
		KUNIT_EXPECT_NULL(test, msg->mi_more);
		KUNIT_EXPECT_EQ(test, rpcrdma_msg_recvs(msg), 1);
		KUNIT_EXPECT_EQ(test, rpcrdma_msg_len(msg), MSG_KUNIT_SIZE);
		KUNIT_EXPECT_EQ(test, rpcrdma_msg_body_len(msg),
				msg_kunit_here[i]);
	}
}

static struct kunit_case msg_kunit_cases[] = {
	KUNIT_CASE(msg_finds_all_parts),
	KUNIT_CASE(msg_has_no_empty_pieces),
	KUNIT_CASE(msg_of_one_is_flat),
	KUNIT_CASE(msg_gives_back_all),
	{}
};

static struct kunit_suite rpcrdma_msg_suite = {
	.name = "rpcrdma_msg",
	.test_cases = msg_kunit_cases,
};

kunit_test_suite(rpcrdma_msg_suite);
