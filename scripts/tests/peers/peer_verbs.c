// SPDX-License-Identifier: GPL-2.0
/* The back end of peer.c for providers with verbs for user space */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/rdma_cma.h>
#include "peer.h"

struct conn {
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	int bare, mute;		/* see peer_manner() */
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint8_t *receives;
	int count, size, keep;
};

static struct rdma_event_channel *channel;
static struct ibv_pd *pd;
static struct ibv_mr *arena;
static struct conn conns[NCONNS];
static int rnr_retry, bare, mute;
static struct sockaddr_in source;

/* --- setting up --- */

/* Returns the handle of the arena, 0 after an error. */
uint32_t peer_init(void *memory, size_t size)
{
	struct ibv_context **devices = rdma_get_devices(NULL);

	channel = rdma_create_event_channel();
	if (!devices || !devices[0] || !channel)
		return 0;
	fcntl(channel->fd, F_SETFL, O_NONBLOCK);
	pd = ibv_alloc_pd(devices[0]);
	if (pd)
		arena = ibv_reg_mr(pd, memory, size, IBV_ACCESS_LOCAL_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_WRITE);
	return arena ? arena->rkey : 0;
}

/* Register @memory for remote access, 1: read, 2: write. Returns its handle, or 0. */
uint32_t peer_register(void *memory, size_t size, int access, void **region)
{
	int flags = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *mr;

	if (access & 1)
		flags |= IBV_ACCESS_REMOTE_READ;
	if (access & 2)
		flags |= IBV_ACCESS_REMOTE_WRITE;
	mr = ibv_reg_mr(pd, memory, size, flags);
	*region = mr;
	return mr ? mr->rkey : 0;
}

/*
 * Set how the next connections behave. @retries: how often the other end is asked to retry
 * if there is no Receive here; 7 means for ever. @own: the queue pair is not created by
 * librdmacm, and always retries for ever. @silent: with @own, the RTU is never sent. @own and
 * @silent work only with InfiniBand's CM.
 */
void peer_manner(int retries, int own, int silent)
{
	rnr_retry = retries;
	bare = own;
	mute = silent;
}

int peer_unregister(void *region)
{
	return ibv_dereg_mr(region);
}

static int conn_new(struct rdma_cm_id *id)
{
	int i;

	for (i = 0; i < NCONNS; i++) {
		if (conns[i].id)
			continue;
		memset(&conns[i], 0, sizeof(conns[i]));
		conns[i].id = id;
		id->context = &conns[i];
		return i;
	}
	return -1;
}

static int conn_post_recv(struct conn *c, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)(c->receives + (size_t)slot * c->size),
		.length = c->size, .lkey = c->mr->lkey,
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
	};

	return ibv_post_recv(c->qp, &wr, &bad);
}

/* Change the state of the queue pair. librdmacm does this for queue pairs that it has created. */
static int conn_modify_qp(struct conn *c, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(c->id, &attr, &mask))
		return -1;
	attr.rnr_retry = 7;
	return ibv_modify_qp(c->qp, &attr, mask);
}

static int conn_create_qp(struct conn *c, int count, int size)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = SQ_DEPTH, .max_recv_wr = count + 1,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};
	int i;

	c->count = count;
	c->size = size;
	c->receives = calloc(count + 1, size);
	c->mr = ibv_reg_mr(pd, c->receives, (size_t)(count + 1) * size,
			   IBV_ACCESS_LOCAL_WRITE);
	c->cq = ibv_create_cq(c->id->verbs, SQ_DEPTH + count + 1, NULL, NULL, 0);
	attr.send_cq = c->cq;
	attr.recv_cq = c->cq;
	if (!c->mr || !c->cq)
		return -1;
	if (c->bare) {
		c->qp = ibv_create_qp(pd, &attr);
		if (!c->qp || conn_modify_qp(c, IBV_QPS_INIT))
			return -1;
	} else {
		if (rdma_create_qp(c->id, pd, &attr))
			return -1;
		c->qp = c->id->qp;
	}
	for (i = 0; i < count; i++)
		if (conn_post_recv(c, i))
			return -1;
	return 0;
}

int peer_listen(const char *port)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_PASSIVE, .ai_port_space = RDMA_PS_TCP,
	}, *info;
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(NULL, port, &hints, &info) ||
	    rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(id, info->ai_src_addr) || rdma_listen(id, 16))
		return -1;
	rdma_freeaddrinfo(info);
	return conn_new(id);
}

static void param_fill(struct rdma_conn_param *param, int depth,
		       const void *private, int private_len)
{
	memset(param, 0, sizeof(*param));
	param->private_data = private;
	param->private_data_len = private_len;
	param->responder_resources = depth;
	param->initiator_depth = 4;
	param->retry_count = 6;
	param->rnr_retry_count = rnr_retry;
}

/* Accept a REQUEST. UP or LOST follows. */
int peer_accept(int conn, int count, int size, int depth, const void *private,
		int private_len)
{
	struct conn *c = &conns[conn];
	struct rdma_conn_param param;

	param_fill(&param, depth, private, private_len);
	if (conn_create_qp(c, count, size))
		return -1;
	return rdma_accept(c->id, &param);
}

void peer_close(int conn)
{
	struct conn *c = &conns[conn];

	if (!c->id)
		return;
	if (c->qp) {
		rdma_disconnect(c->id);
		if (c->bare)
			ibv_destroy_qp(c->qp);
		else
			rdma_destroy_qp(c->id);
	}
	if (c->cq)
		ibv_destroy_cq(c->cq);
	if (c->mr)
		ibv_dereg_mr(c->mr);
	rdma_destroy_id(c->id);
	free(c->receives);
	c->id = NULL;
}

/* Connect from this address from now on; or from any, if it is empty. */
int peer_source(const char *address)
{
	memset(&source, 0, sizeof(source));
	if (!*address)
		return 0;
	source.sin_family = AF_INET;
	return inet_pton(AF_INET, address, &source.sin_addr) == 1 ? 0 : -1;
}

/* Returns -2 if the local port is in use. */
static int connect_once(const char *address, const char *port, int count,
			int size, int depth, const void *private,
			int private_len)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	struct rdma_event_channel *steps = rdma_create_event_channel();
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	int i, conn;

	/* The first steps wait for their events, on an event channel of their own. */
	if (!steps || rdma_getaddrinfo(address, port, &hints, &info) ||
	    rdma_create_id(steps, &id, NULL, RDMA_PS_TCP))
		return -1;
	for (i = 0; i < 2; i++) {
		struct rdma_cm_event *event;
		int rc, kind;

		rc = i ? rdma_resolve_route(id, 2000) :
			 rdma_resolve_addr(id, source.sin_family ?
					       (struct sockaddr *)&source : NULL,
					   info->ai_dst_addr, 2000);
		if (rc || rdma_get_cm_event(steps, &event))
			return -1;
		kind = event->event;
		rdma_ack_cm_event(event);
		if (kind != (i ? RDMA_CM_EVENT_ROUTE_RESOLVED :
				 RDMA_CM_EVENT_ADDR_RESOLVED))
			return -1;
	}
	rdma_freeaddrinfo(info);
	if (rdma_migrate_id(id, channel))
		return -1;
	rdma_destroy_event_channel(steps);

	conn = conn_new(id);
	if (conn < 0)
		return -1;
	conns[conn].bare = bare;
	conns[conn].mute = mute;
	param_fill(&param, depth, private, private_len);
	if (conn_create_qp(&conns[conn], count, size))
		return -1;
	param.qp_num = conns[conn].qp->qp_num;
	if (rdma_connect(id, &param)) {
		int error = errno;

		peer_close(conn);
		return error == EADDRINUSE || error == EADDRNOTAVAIL ? -2 : -1;
	}
	return conn;
}

/* Connect. UP or LOST follows. With siw, TCP may already use the local port that the CM has
 * chosen. Then try again, with another port.
 */
int peer_connect(const char *address, const char *port, int count, int size,
		 int depth, const void *private, int private_len)
{
	int tries = 8, conn;

	do
		conn = connect_once(address, port, count, size, depth, private,
				    private_len);
	while (conn == -2 && --tries);
	return conn;
}

int peer_reject(int conn)
{
	int rc = rdma_reject(conns[conn].id, NULL, 0);

	rdma_destroy_id(conns[conn].id);
	conns[conn].id = NULL;
	return rc;
}

/* Returns the local port of a connection. */
int peer_port(int conn)
{
	return ntohs(rdma_get_src_port(conns[conn].id));
}

/* Put the queue pair into the error state, in which it does not answer any more. With rxe,
 * nothing tells the other end. (siw would close its TCP connection.)
 */
int peer_die(int conn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(conns[conn].qp, &attr, IBV_QP_STATE);
}

int peer_disconnect(int conn)
{
	return rdma_disconnect(conns[conn].id);
}

/* --- talking --- */

/* Keep Receives instead of posting them again. */
void peer_keep(int conn, int keep)
{
	conns[conn].keep = keep;
}

/* Post a work request of kind @what for @memory, which is in the arena. */
int peer_post(int conn, int what, uint64_t id, void *memory, uint32_t length,
	      uint64_t offset, uint32_t handle)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_INV, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)memory, .length = length,
		.lkey = arena->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1,
		.opcode = opcodes[what], .send_flags = IBV_SEND_SIGNALED,
	};

	if (what == PEER_SEND_INV) {
		wr.invalidate_rkey = handle;
	} else if (what != PEER_SEND) {
		wr.wr.rdma.remote_addr = offset;
		wr.wr.rdma.rkey = handle;
	}
	return ibv_post_send(conns[conn].qp, &wr, &bad);
}

static int poll_queue(struct conn *c, struct event *event)
{
	struct ibv_wc wc;

	if (!c->cq || ibv_poll_cq(c->cq, 1, &wc) <= 0)
		return 0;
	event->conn = c - conns;
	event->status = wc.status;
	event->id = wc.wr_id;
	/* wc.opcode is not valid if the work request has failed */
	if (wc.wr_id >= FIRST_ID) {
		event->kind = DONE;
		return 1;
	}
	if (wc.status)
		return 0;
	event->kind = RECEIVED;
	event->length = wc.byte_len;
	event->invalidated = wc.wc_flags & IBV_WC_WITH_INV ?
			     wc.invalidated_rkey : 0;
	memcpy(event->data, c->receives + wc.wr_id * c->size, wc.byte_len);
	if (!c->keep)
		conn_post_recv(c, wc.wr_id);
	return 1;
}

/* The server has accepted a connection whose queue pair was not created by librdmacm. */
static int conn_establish(struct conn *c)
{
	/* Repeat INIT: the CM knows only now which remote accesses to permit. */
	if (conn_modify_qp(c, IBV_QPS_INIT) || conn_modify_qp(c, IBV_QPS_RTR) ||
	    conn_modify_qp(c, IBV_QPS_RTS))
		return LOST;
	if (!c->mute && rdma_establish(c->id))
		return LOST;
	return UP;
}

static int poll_cm(struct event *event)
{
	struct rdma_cm_event *cm;
	struct conn *c;

	if (rdma_get_cm_event(channel, &cm))
		return 0;
	event->status = cm->event;
	event->depth = cm->param.conn.initiator_depth;
	event->length = cm->param.conn.private_data_len;
	if (event->length)
		memcpy(event->data, cm->param.conn.private_data, event->length);
	switch (cm->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		event->conn = conn_new(cm->id);
		event->kind = REQUEST;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		event->kind = UP;
		break;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		event->kind = conn_establish(cm->id->context);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		event->kind = LOST;
		break;
	}
	if (event->kind != REQUEST) {
		c = cm->id->context;
		event->conn = c ? c - conns : -1;
	}
	rdma_ack_cm_event(cm);
	return event->kind != NOTHING;
}

int poll_conn(int conn, struct event *event)
{
	event->kind = NOTHING;
	return conns[conn].id && poll_queue(&conns[conn], event) ? event->kind : NOTHING;
}

int poll_any(struct event *event)
{
	int i;

	event->kind = NOTHING;
	/* Messages that arrived before a connection was lost are reported, too. */
	for (i = 0; i < NCONNS; i++)
		if (conns[i].id && poll_queue(&conns[i], event))
			return event->kind;
	return poll_cm(event) ? event->kind : NOTHING;
}
