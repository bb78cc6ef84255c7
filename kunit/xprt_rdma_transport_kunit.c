// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/client/transport.c and rpcrdma/xmit.h: which transports are refused when they
 * are created, which timeouts they get, and what sunrpc is told about a request that cannot be
 * sent. No connection is made, so no device is needed.
 */

#include <kunit/test.h>
#include <linux/in.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/stats.h>
#include <linux/sunrpc/xprt.h>
#include <net/net_namespace.h>
#include <rpcrdma/xmit.h>

#ifdef xprt_rdma_xprtsec
/* In this kernel, nobody can ask sunrpc for TLS (include/compat/xprtsec). */
static void xprt_rdma_transport_refuses_tls(struct kunit *test)
{
	kunit_skip(test, "sunrpc has no TLS");
}

static void xprt_rdma_transport_takes_timeouts(struct kunit *test)
{
	kunit_skip(test, "sunrpc has no timeouts for a new transport");
}
#else

#define XPRT_RDMA_KUNIT_PROGRAM	0x40000000u

static const struct rpc_version xprt_rdma_transport_version = { };

static const struct rpc_version *xprt_rdma_transport_versions[] = {
	&xprt_rdma_transport_version,
};

static struct rpc_stat xprt_rdma_transport_stat;

static const struct rpc_program xprt_rdma_transport_program = {
	.name		= "rpcrdma-kunit", .number		= XPRT_RDMA_KUNIT_PROGRAM,
	.nrvers		= ARRAY_SIZE(xprt_rdma_transport_versions),
	.version	= xprt_rdma_transport_versions,
	.stats		= &xprt_rdma_transport_stat,
};

/* Create a client of 192.0.2.1, an address that belongs to nobody (RFC 5737). Because of
 * RPC_CLNT_CREATE_NOPING, no connection is made.
 */
static struct rpc_clnt *
xprt_rdma_transport_create(enum xprtsec_policies policy, unsigned long
			   connect_timeout, unsigned long reconnect_timeout)
{
	struct sockaddr_in sin = {
		.sin_family		= AF_INET, .sin_addr.s_addr	= htonl(0xc0000201),
		.sin_port		= htons(20049),
	};
	struct rpc_create_args args = {
		.net		= &init_net, .protocol	= XPRT_TRANSPORT_RDMA,
		.address	= (struct sockaddr *)&sin, .addrsize	= sizeof(sin),
		.servername	= "nobody", .program	= &xprt_rdma_transport_program,
		.authflavor	= RPC_AUTH_NULL, .flags		= RPC_CLNT_CREATE_NOPING,
		.cred		= current_cred(), .xprtsec	= { .policy = policy },
		.connect_timeout = connect_timeout,
		.reconnect_timeout = reconnect_timeout,
	};

	return rpc_create(&args);
}

/* A client that asks for an encrypted transport does not get an unencrypted one. */
static void xprt_rdma_transport_refuses_tls(struct kunit *test)
{
	enum xprtsec_policies wanted[] = {
		RPC_XPRTSEC_TLS_ANON, RPC_XPRTSEC_TLS_X509,
	};
	struct rpc_clnt *clnt;
	int i;

	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		clnt = xprt_rdma_transport_create(wanted[i], 0, 0);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(clnt), -EPROTONOSUPPORT);
		if (!IS_ERR(clnt))
			rpc_shutdown_client(clnt);
	}

	clnt = xprt_rdma_transport_create(RPC_XPRTSEC_NONE, 0, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clnt);
	rpc_shutdown_client(clnt);
}

/* NFS has short timeouts for data servers of pNFS, so that it notices soon that one is dead. */
static void xprt_rdma_transport_takes_timeouts(struct kunit *test)
{
	static const unsigned long asked[] = { 0, 5 * HZ, 20 * HZ, 90 * HZ };
	const struct rpc_xprt *xprt;
	struct rpc_clnt *clnt;
	unsigned long want;
	int i;

	for (i = 0; i < ARRAY_SIZE(asked); i++) {
		clnt = xprt_rdma_transport_create(RPC_XPRTSEC_NONE, asked[i],
						  asked[i]);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, clnt);
		xprt = rcu_access_pointer(clnt->cl_xprt);
		want = min(asked[i] ?: 60 * HZ, 60ul * HZ);
		KUNIT_EXPECT_EQ(test, xprt->connect_timeout, want);
		KUNIT_EXPECT_EQ(test, xprt->max_reconnect_timeout, want);
		rpc_shutdown_client(clnt);
	}
}
#endif

/* sunrpc gives an error of send_request() to the task that holds the send lock. If the request
 * belongs to another task, a final error is replaced by one that does not end an RPC.
 */
static void xprt_rdma_transport_spares_others(struct kunit *test)
{
	static const int final[] = { -EIO, -EINVAL, -EMSGSIZE };
	static const int again[] = { 0, -EAGAIN, -ENOBUFS, -ENOMEM, -ENOTCONN };
	struct rpc_task *tasks = kunit_kcalloc(test, 2, sizeof(*tasks),
					       GFP_KERNEL);
	struct rpc_xprt *xprt = kunit_kzalloc(test, sizeof(*xprt), GFP_KERNEL);
	struct rpc_rqst *rqst = kunit_kzalloc(test, sizeof(*rqst), GFP_KERNEL);
	int i, own;

	KUNIT_ASSERT_NOT_NULL(test, tasks);
	KUNIT_ASSERT_NOT_NULL(test, xprt);
	KUNIT_ASSERT_NOT_NULL(test, rqst);
	rqst->rq_xprt = xprt;
	rqst->rq_task = &tasks[0];
	for (own = 0; own < 2; own++) {
		xprt->snd_task = &tasks[!own];
		for (i = 0; i < ARRAY_SIZE(final); i++)
			KUNIT_EXPECT_EQ(test,
					rpcrdma_xmit_status(rqst, final[i]),
					own ? final[i] : -ENOBUFS);
		for (i = 0; i < ARRAY_SIZE(again); i++)
			KUNIT_EXPECT_EQ(test,
					rpcrdma_xmit_status(rqst, again[i]),
					again[i]);
	}
}

static struct kunit_case xprt_rdma_transport_cases[] = {
	KUNIT_CASE(xprt_rdma_transport_refuses_tls),
	KUNIT_CASE(xprt_rdma_transport_takes_timeouts),
	KUNIT_CASE(xprt_rdma_transport_spares_others),
	{}
};

static struct kunit_suite xprt_rdma_transport_suite = {
	.name = "xprt_rdma_transport",
	.test_cases = xprt_rdma_transport_cases,
};

kunit_test_suite(xprt_rdma_transport_suite);
