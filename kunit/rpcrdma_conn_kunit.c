// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/verbs/conn_state.c: when a connection goes down, and which error is kept.
 * Another test is of net/verbs/conn.c: what a peer may say when the connection is established.
 */

#include <kunit/test.h>
#include <kunit/visibility.h>

#include <rpcrdma/conn.h>

#include "../net/verbs/conn_state.h"

struct conn_fixture {
	struct rpcrdma_conn	cf_conn;
	int			cf_lost;
};

static void conn_kunit_receive(struct rpcrdma_conn *conn,
			       struct rpcrdma_msg_in *msg)
{
}

static void conn_kunit_lost(struct rpcrdma_conn *conn)
{
	container_of(conn, struct conn_fixture, cf_conn)->cf_lost++;
}

static const struct rpcrdma_conn_ops conn_kunit_ops = {
	.receive	= conn_kunit_receive, .lost		= conn_kunit_lost,
};

/* Make a connection that is being opened, by this end (@dials) or by its peer. */
static struct conn_fixture *conn_kunit_make(struct kunit *test, bool dials)
{
	struct conn_fixture *fx;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	rpcrdma_conn_init(&fx->cf_conn, &conn_kunit_ops);
	fx->cf_conn.cn_dials = dials;
	fx->cf_conn.cn_state = RPCRDMA_CONN_OPENING;
	return fx;
}

static void conn_expect(struct kunit *test, const struct conn_fixture *fx,
			enum rpcrdma_conn_state state, int error)
{
	KUNIT_EXPECT_EQ(test, fx->cf_conn.cn_state, state);
	KUNIT_EXPECT_EQ(test, fx->cf_conn.cn_error, error);
	KUNIT_EXPECT_EQ(test, rpcrdma_conn_is_up(&fx->cf_conn),
			state == RPCRDMA_CONN_UP && !error);
	KUNIT_EXPECT_EQ(test, fx->cf_lost, !!error);
}

/* If the peer refuses the connection, Receives are flushed before the CM reports the refusal. The
 * error that is kept must be the refusal.
 */
static void conn_keeps_refusal(struct kunit *test)
{
	struct conn_fixture *fx = conn_kunit_make(test, true);

	rpcrdma_conn_flushed(&fx->cf_conn);
	rpcrdma_conn_flushed(&fx->cf_conn);
	conn_expect(test, fx, RPCRDMA_CONN_OPENING, 0);
	rpcrdma_conn_fail(&fx->cf_conn, -ECONNREFUSED);
	conn_expect(test, fx, RPCRDMA_CONN_OPENING, -ECONNREFUSED);
	rpcrdma_conn_flushed(&fx->cf_conn);
	conn_expect(test, fx, RPCRDMA_CONN_OPENING, -ECONNREFUSED);
}

/* At the end that opens a connection, if a Receive is flushed before the CM reports that the
 * connection is established, that report ends the connection.
 */
static void conn_flushed_before_up(struct kunit *test)
{
	struct conn_fixture *fx = conn_kunit_make(test, true);

	rpcrdma_conn_flushed(&fx->cf_conn);
	KUNIT_EXPECT_FALSE(test, rpcrdma_conn_rise_up(&fx->cf_conn));
	conn_expect(test, fx, RPCRDMA_CONN_UP, -ECONNRESET);
}

static void conn_flushed_while_up(struct kunit *test)
{
	struct conn_fixture *fx = conn_kunit_make(test, true);

	KUNIT_EXPECT_TRUE(test, rpcrdma_conn_rise_up(&fx->cf_conn));
	conn_expect(test, fx, RPCRDMA_CONN_UP, 0);
	rpcrdma_conn_flushed(&fx->cf_conn);
	conn_expect(test, fx, RPCRDMA_CONN_UP, -ECONNRESET);
	KUNIT_EXPECT_FALSE(test, rpcrdma_conn_rise_up(&fx->cf_conn));
}

/* At the end that accepts a connection, a flushed Receive ends the connection at once, even if the
 * connection is not established yet.
 */
static void conn_flushed_at_server(struct kunit *test)
{
	struct conn_fixture *fx = conn_kunit_make(test, false);

	rpcrdma_conn_flushed(&fx->cf_conn);
	conn_expect(test, fx, RPCRDMA_CONN_OPENING, -ECONNRESET);
}

/* Only the end that connects takes the peer's private data from the event that the connection is
 * established. The other end has got it before, and may have agreed on other limits since.
 */
static void conn_told_too_late(struct kunit *test)
{
	static const u8 data[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 7, 7 };
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_ESTABLISHED,
		.param.conn = { .private_data = data,
				.private_data_len = sizeof(data) },
	};
	struct conn_fixture *fx;
	struct rpcrdma_conn *conn;
	struct rdma_cm_id *id;
	int dials;

	id = kunit_kzalloc(test, sizeof(*id), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, id);
	for (dials = 0; dials < 2; dials++) {
		fx = conn_kunit_make(test, dials);
		conn = &fx->cf_conn;
		conn->cn_limits.lm_inline_send = 12345;
		conn->cn_keepalive.al_started = true;
		id->context = conn;
		KUNIT_EXPECT_EQ(test, rpcrdma_conn_cm_event(id, &event), 0);
		KUNIT_EXPECT_EQ(test, conn->cn_peer_len,
				dials ? sizeof(data) : 0);
		KUNIT_EXPECT_EQ(test, conn->cn_limits.lm_inline_send == 12345,
				!dials);
		conn_expect(test, fx, RPCRDMA_CONN_UP, 0);
	}
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(conn_keeps_refusal),
	KUNIT_CASE(conn_flushed_before_up),
	KUNIT_CASE(conn_flushed_while_up),
	KUNIT_CASE(conn_flushed_at_server),
	KUNIT_CASE(conn_told_too_late),
	{}
};

static struct kunit_suite rpcrdma_conn_suite = {
	.name = "rpcrdma_conn",
	.test_cases = conn_cases,
};

kunit_test_suite(rpcrdma_conn_suite);
