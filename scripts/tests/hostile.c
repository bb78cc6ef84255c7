// SPDX-License-Identifier: GPL-2.0
/*
 * A client that says what it likes: sends RPC-over-RDMA version 1 messages to
 * an NFS server, sound ones, odd ones and malformed ones, and judges what comes
 * back. Everything is built from NFSv3 NULL Calls, so no export is needed.
 *
 * usage: hostile ADDRESS PORT
 * Prints "ok NAME" or "not ok NAME" for each case; the status is 1 if one failed.
 * Needs librdmacm and libibverbs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define NRECVS		16
#define RECV_SIZE	4096
#define SEND_SIZE	65536
#define DATA_SIZE	(1 << 20)
#define NSENDS		400
#define PATIENCE	5000	/* ms for an answer that has to come */
#define SILENCE		300	/* ms for one that must not */
#define NULL_LEN	40	/* bytes of a NULL Call with AUTH_NONE */

enum { MSG, NOMSG, MSGP, DONE, ERROR };
enum { ERR_VERS = 1, ERR_CHUNK };

static const char *address, *port;
static struct rdma_cm_id *id;
static struct ibv_mr *recv_mr, *send_mr, *data_mr;
static uint8_t *recv_buf, *send_buf;
static uint8_t *data;			/* what chunks are made of */
static uint32_t msg[SEND_SIZE / 4];	/* the message being built, big endian */
static int words;			/* of it */
static uint32_t ans[RECV_SIZE / 4];	/* the last answer, host order */
static uint32_t xid = 0x1000;
static int failed;

/* --- connection --- */

static int conn_open(int depth, const void *private, int private_len)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *res;
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = NSENDS, .max_recv_wr = NRECVS,
			.max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = {
		.responder_resources = depth, .retry_count = 6,
		.private_data = private, .private_data_len = private_len,
	};
	int i;

	if (rdma_getaddrinfo(address, port, &hints, &res) ||
	    rdma_create_ep(&id, res, NULL, &attr)) {
		perror("no endpoint");
		exit(2);
	}
	rdma_freeaddrinfo(res);

	recv_buf = calloc(NRECVS, RECV_SIZE);
	send_buf = calloc(1, SEND_SIZE);
	data = aligned_alloc(4096, DATA_SIZE);
	memset(data, 0xee, DATA_SIZE);
	recv_mr = rdma_reg_msgs(id, recv_buf, NRECVS * RECV_SIZE);
	send_mr = rdma_reg_msgs(id, send_buf, SEND_SIZE);
	data_mr = ibv_reg_mr(id->pd, data, DATA_SIZE, IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	for (i = 0; i < NRECVS; i++)
		rdma_post_recv(id, (void *)(uintptr_t)i,
			       recv_buf + i * RECV_SIZE, RECV_SIZE, recv_mr);
	if (rdma_connect(id, &param))
		return -errno;
	/* siw overlooks what arrives before its accepting end has returned
	 * from the handshake, until something else arrives.
	 */
	usleep(200000);
	return 0;
}

static void conn_close(void)
{
	rdma_disconnect(id);
	rdma_dereg_mr(recv_mr);
	rdma_dereg_mr(send_mr);
	ibv_dereg_mr(data_mr);
	rdma_destroy_ep(id);
	free(recv_buf);
	free(send_buf);
	free(data);
}

static void conn_must_open(const void *private, int private_len)
{
	if (!conn_open(4, private, private_len))
		return;
	perror("no connection");
	exit(2);
}

static void send_bytes(int len)
{
	memcpy(send_buf, msg, len);
	rdma_post_send(id, NULL, send_buf, len, send_mr, IBV_SEND_SIGNALED);
}

/* siw does not flush the queues of a connection that its peer has closed. */
static int is_disconnected(void)
{
	struct pollfd cm = { .fd = id->channel->fd, .events = POLLIN };

	return poll(&cm, 1, 0) > 0;
}

/* Wait for an answer. Returns its bytes; 0: none came; -1: connection lost. */
static int answer(int patience)
{
	struct ibv_wc wc;
	int ms, i;

	for (ms = 0; ms < patience; ms++, usleep(1000)) {
		while (ibv_poll_cq(id->send_cq, 1, &wc) > 0)
			if (wc.status)
				return -1;
		if (ibv_poll_cq(id->recv_cq, 1, &wc) <= 0) {
			if (is_disconnected())
				return -1;
			continue;
		}
		if (wc.status)
			return -1;
		for (i = 0; i < (int)wc.byte_len / 4; i++)
			ans[i] = ntohl(((uint32_t *)(recv_buf + wc.wr_id *
						     RECV_SIZE))[i]);
		rdma_post_recv(id, (void *)(uintptr_t)wc.wr_id,
			       recv_buf + wc.wr_id * RECV_SIZE, RECV_SIZE,
			       recv_mr);
		return wc.byte_len;
	}
	return 0;
}

/* --- building messages --- */

static void word(uint32_t value)
{
	msg[words++] = htonl(value);
}

static void put(int n, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, n);
	while (n--)
		word(__builtin_va_arg(ap, uint32_t));
	__builtin_va_end(ap);
}

static void header(uint32_t vers, uint32_t proc)
{
	words = 0;
	put(4, ++xid, vers, 8, proc);
}

static void segment_of(uint32_t handle, uint32_t offset, uint32_t len)
{
	uint64_t addr = (uintptr_t)data + offset;

	put(4, handle, len, (uint32_t)(addr >> 32), (uint32_t)addr);
}

static void segment(uint32_t offset, uint32_t len)
{
	segment_of(data_mr->rkey, offset, len);
}

static void read_segment(uint32_t position, uint32_t offset, uint32_t len)
{
	put(2, 1, position);
	segment(offset, len);
}

static void end_lists(int n)
{
	while (n--)
		word(0);
}

static void null_call(uint32_t call_xid)
{
	put(10, call_xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0);
}

/* The message goes to @data instead of behind the header. */
static void null_call_in_data(uint32_t call_xid, uint32_t type)
{
	int at = words;

	null_call(call_xid);
	msg[at + 1] = htonl(type);
	memcpy(data, msg + at, NULL_LEN);
	words = at;
}

/* --- judging --- */

static void judge(const char *name, int good)
{
	printf("%s %s\n", good ? "ok" : "not ok", name);
	fflush(stdout);
	failed += !good;
}

static int is_null_reply(int len)
{
	return len == 52 && ans[0] == xid && ans[1] == 1 && ans[2] &&
	       ans[3] == MSG && !ans[4] && !ans[5] && !ans[6] &&
	       ans[7] == xid && ans[8] == 1 && !ans[9] && !ans[12];
}

static int is_error(int len, uint32_t vers, uint32_t code)
{
	return len >= 20 && ans[0] == xid && ans[1] == vers && ans[2] &&
	       ans[3] == ERROR && ans[4] == code;
}

static void want_reply(const char *name)
{
	send_bytes(words * 4);
	judge(name, is_null_reply(answer(PATIENCE)));
}

static void want_err_chunk(const char *name)
{
	int len;

	send_bytes(words * 4);
	len = answer(PATIENCE);
	judge(name, len == 20 && is_error(len, 1, ERR_CHUNK));
}

static void want_silence(const char *name)
{
	judge(name, answer(SILENCE) == 0);
}

static void want_loss(const char *name)
{
	send_bytes(words * 4);
	judge(name, answer(4 * PATIENCE) == -1);
}

static void null_works(const char *name)
{
	header(1, MSG);
	end_lists(3);
	null_call(xid);
	want_reply(name);
}

/* --- the cases --- */

/* Covers: V1-ERR-03 V1-ERR-04 V1-ERR-05 V1-ERR-14 V1-ERR-16 V1-CRD-25 EXP-27 EXP-28
 * Covers: V1-DEP-02 V1-DEP-05 V1-ERR-09 V1-ERR-23 EXP-32 BC-25 BC-26
 */
static void versions_and_types(void)
{
	static const uint32_t versions[] = { 0, 2, 3, 0xffffffff };
	char name[80];
	int i, len;

	for (len = 1; len < 28; len += 3) {
		header(1, MSG);
		end_lists(3);
		send_bytes(len);
	}
	want_silence("messages under 28 bytes are dropped");
	null_works("and nothing else happens");

	for (i = 0; i < 4; i++) {
		header(versions[i], MSG);
		end_lists(3);
		null_call(xid);
		send_bytes(words * 4);
		len = answer(PATIENCE);
		snprintf(name, sizeof(name), "version 0x%x: ERR_VERS", versions[i]);
		judge(name, len == 28 && is_error(len, versions[i], ERR_VERS) &&
		      ans[5] == 1 && ans[6] == 1);
	}

	for (i = 0; i < 50; i++, usleep(2000)) {
		header(1, DONE);
		end_lists(3);
		send_bytes(words * 4);
	}
	header(1, ERROR);
	put(3, ERR_CHUNK, 0, 0);
	send_bytes(words * 4);
	want_silence("RDMA_DONE and RDMA_ERROR are dropped");
	null_works("without using up Receives");

	header(1, MSGP);
	put(2, 64, 256);
	end_lists(3);
	null_call(xid);
	want_reply("RDMA_MSGP is taken for RDMA_MSG");

	header(1, 5);
	end_lists(3);
	null_call(xid);
	want_err_chunk("rdma_proc 5");
	header(1, 0x7fffffff);
	end_lists(3);
	null_call(xid);
	want_err_chunk("rdma_proc 0x7fffffff");

	header(1, MSG);
	end_lists(3);
	put(6, xid, 1, 0, 0, 0, 0);
	send_bytes(words * 4);
	want_silence("a backward Reply nobody waits for is dropped");
}

/* Covers: V1-ERR-01 V1-ERR-02 V1-ERR-06 V1-ERR-15 V1-HDR-05 V1-CHK-14 V1-CHK-15
 * Covers: V1-FRM-10 V1-PZC-10 MEM-13 EXP-28 EXP-29
 */
static void bad_lists(void)
{
	char name[80];
	int i;

	for (i = 0; i < 3; i++) {
		header(1, MSG);
		put(3, i == 0 ? 2 : 0, i == 1 ? 2 : 0, i == 2 ? 2 : 0);
		null_call(xid);
		snprintf(name, sizeof(name), "presence word 2 in list %d", i);
		want_err_chunk(name);
	}

	header(1, MSG);
	put(3, 0, 1, 0xffffffff);
	segment(0, 10);
	end_lists(2);
	null_call(xid);
	want_err_chunk("0xffffffff segments");

	header(1, MSG);
	put(3, 0, 1, 65);
	for (i = 0; i < 65; i++)
		segment(0, 10);
	end_lists(2);
	null_call(xid);
	want_err_chunk("65 segments");

	header(1, MSG);
	word(0);
	for (i = 0; i < 17; i++) {
		put(2, 1, 1);
		segment(0, 10);
	}
	end_lists(2);
	null_call(xid);
	want_err_chunk("17 Write chunks");

	header(1, MSG);
	end_lists(3);
	null_call(xid + 1);
	want_err_chunk("another XID in the message");
	header(1, MSG);
	end_lists(3);
	want_err_chunk("RDMA_MSG without a message");
	header(1, NOMSG);
	end_lists(3);
	want_err_chunk("RDMA_NOMSG without a chunk");
	header(1, NOMSG);
	end_lists(3);
	null_call(xid);
	want_err_chunk("RDMA_NOMSG with a message");
	header(1, MSG);
	read_segment(0, 0, NULL_LEN);
	end_lists(3);
	null_call(xid);
	want_err_chunk("RDMA_MSG with a Position Zero chunk");
}

/* Covers: V1-RDC-03 V1-RDC-17 V1-RDC-18 V1-PZC-11 V1-PZC-12 V1-ERR-28 MEM-13 */
static void bad_reads(void)
{
	header(1, MSG);
	read_segment(NULL_LEN + 2, 0, 40);
	end_lists(3);
	null_call(xid);
	want_err_chunk("a position that is not aligned");
	header(1, MSG);
	read_segment(NULL_LEN + 4, 0, 40);
	end_lists(3);
	null_call(xid);
	want_err_chunk("a position past the end");
	header(1, MSG);
	read_segment(NULL_LEN, 0, 40);
	read_segment(NULL_LEN + 20, 0, 40);
	end_lists(3);
	null_call(xid);
	want_err_chunk("Read chunks that overlap");
	header(1, MSG);
	read_segment(NULL_LEN, 0, 0xfffffff0);
	end_lists(3);
	null_call(xid);
	want_err_chunk("a Read chunk of 4 GiB");
	header(1, MSG);
	read_segment(NULL_LEN, 0, 0xfffffff0);
	read_segment(NULL_LEN, 0, 0xfffffff0);
	end_lists(3);
	null_call(xid);
	want_err_chunk("a Read chunk whose length overflows");
	header(1, NOMSG);
	read_segment(0, 0, 1 << 30);
	end_lists(3);
	want_err_chunk("a Position Zero chunk of 1 GiB");
	header(1, NOMSG);
	null_call_in_data(xid + 7, 0);
	read_segment(0, 0, NULL_LEN);
	end_lists(3);
	want_err_chunk("another XID in a Position Zero chunk");
	header(1, NOMSG);
	null_call_in_data(xid, 1);
	read_segment(0, 0, NULL_LEN);
	end_lists(3);
	want_err_chunk("a Reply in a Position Zero chunk");
}

/* Covers: V1-PZC-04 V1-PZC-08 V1-RDC-15 V1-RDC-19 V1-CHK-09 EXP-04 */
static void long_calls(void)
{
	int i;

	header(1, NOMSG);
	null_call_in_data(xid, 0);
	read_segment(0, 0, NULL_LEN);
	end_lists(3);
	want_reply("Position Zero chunk of one segment");

	header(1, NOMSG);
	null_call_in_data(xid, 0);
	read_segment(0, 0, 1);
	read_segment(0, 1, 10);
	read_segment(0, 11, 0);
	read_segment(0, 11, 29);
	end_lists(3);
	want_reply("Position Zero chunk of uneven segments, one empty");

	header(1, NOMSG);
	null_call_in_data(xid, 0);
	for (i = 0; i < 20; i++)
		read_segment(0, 2 * i, 2);
	end_lists(3);
	want_reply("Position Zero chunk of 20 segments");
}

/* Covers: V1-RDC-10 V1-RDC-11 V1-RDC-16 V1-RDC-19 V1-HDR-19 EXP-03
 * AUTH_SYS with the machine name (position 40) and the groups (60) in chunks:
 * the Call is only accepted if it is put together right.
 */
static void chunks_in_credential(const char *name, int padded, int split,
				 int reversed)
{
	static const uint8_t machine[] = "abcde\xff\xff\xff";
	uint32_t gids[2] = { htonl(7), htonl(8) };

	memcpy(data + 200, machine, 8);
	memcpy(data + 301, gids, 8);

	header(1, MSG);
	if (reversed)
		read_segment(60, 301, 8);
	if (split) {
		read_segment(40, 200, 2);
		read_segment(40, 202, 0);
		read_segment(40, 202, 3);
	} else {
		read_segment(40, 200, padded ? 8 : 5);
	}
	if (!reversed)
		read_segment(60, 301, 8);
	end_lists(3);
	put(8, xid, 0, 2, 100003, 3, 0, 1, 36);
	put(5, 99, 5, 1, 2, 2);		/* stamp, name, uid, gid, gids */
	put(2, 0, 0);
	want_reply(name);
}

/* Covers: V1-CHK-15 ULB-19 */
static void odd_reads(void)
{
	char name[80];
	int i;

	chunks_in_credential("two chunks inside the credential", 0, 0, 0);
	chunks_in_credential("the same with roundup", 1, 0, 0);
	chunks_in_credential("the same in three segments", 0, 1, 0);
	chunks_in_credential("the same in reverse order", 0, 0, 1);

	for (i = 1; i < 200000; i *= 7) {
		header(1, MSG);
		read_segment(NULL_LEN, 13, i);
		end_lists(3);
		null_call(xid);
		snprintf(name, sizeof(name), "Read chunk of %d bytes", i);
		want_reply(name);
	}

	header(1, MSG);
	for (i = 0; i < 64; i++)
		read_segment(NULL_LEN, i * 100 + 3, 64);
	end_lists(3);
	null_call(xid);
	want_reply("Read chunk of 64 segments");

	header(1, MSG);
	for (i = 0; i < 16; i++)
		read_segment(NULL_LEN + i * 64, i * 100 + 3, 64);
	end_lists(3);
	null_call(xid);
	want_reply("16 Read chunks");
}

/* Covers: V1-FRM-07 V1-RPL-02 V1-RPL-11 V1-ERR-11 V1-UNU-01 V1-WRC-15 V1-WRC-17 */
static void replies(void)
{
	uint32_t reply[6];
	int len;

	header(1, NOMSG);
	null_call_in_data(xid, 0);
	read_segment(0, 0, NULL_LEN);
	put(4, 0, 0, 1, 3);
	segment(4096, 5);
	segment(8192, 11);
	segment(12288, 4000);
	send_bytes(words * 4);
	len = answer(PATIENCE);
	judge("a Reply chunk comes back with what was written",
	      len == 80 && ans[3] == NOMSG && ans[6] == 1 && ans[7] == 3 &&
	      ans[9] == 5 && ans[13] == 11 && ans[17] == 8);
	memcpy(reply, data + 4096, 5);
	memcpy((uint8_t *)reply + 5, data + 8192, 11);
	memcpy((uint8_t *)reply + 16, data + 12288, 8);
	judge("the Reply is in its segments, and nothing behind it",
	      ntohl(reply[0]) == xid && ntohl(reply[1]) == 1 && !reply[2] &&
	      !reply[5] && data[4101] == 0xee && data[8203] == 0xee &&
	      data[12296] == 0xee);

	header(1, MSG);
	put(4, 0, 0, 1, 1);
	segment(20480, 20);
	null_call(xid);
	want_err_chunk("a Reply chunk that is too small");
	judge("is not written past its end", data[20500] == 0xee);

	header(1, MSG);
	put(3, 0, 1, 2);
	segment(0, 100);
	segment(100, 200);
	put(2, 1, 0);
	end_lists(2);
	null_call(xid);
	send_bytes(words * 4);
	len = answer(PATIENCE);
	judge("Write chunks that are not used come back empty",
	      len == 100 && ans[3] == MSG && ans[5] == 1 && ans[6] == 2 &&
	      ans[7] == data_mr->rkey && !ans[8] && !ans[12] &&
	      ans[15] == 1 && !ans[16] && !ans[17] && !ans[18]);
}

/* Covers: V1-CRD-13 V1-CRD-32 V1-ERR-28 */
static void broken_connections(void)
{
	int i;

	conn_must_open(NULL, 0);
	null_works("a client without private data is served");
	header(1, MSG);
	put(2, 1, NULL_LEN);
	segment_of(data_mr->rkey ^ 0x5500, 0, 100);
	end_lists(3);
	null_call(xid);
	want_loss("a handle that cannot be read ends the connection");
	conn_close();

	conn_must_open(NULL, 0);
	header(1, MSG);
	put(4, 0, 0, 1, 1);
	segment_of(data_mr->rkey ^ 0x5500, 0, 100);
	null_call(xid);
	want_loss("a handle that cannot be written ends the connection");
	conn_close();

	conn_must_open(NULL, 0);
	header(1, MSG);
	end_lists(3);
	null_call(xid);
	memcpy(send_buf, msg, words * 4);
	for (i = 0; i < NSENDS; i++)
		if (rdma_post_send(id, NULL, send_buf, words * 4, send_mr, 0))
			break;
	sleep(1);
	conn_close();

	judge("a connection that lets nothing be read is refused",
	      conn_open(0, NULL, 0) != 0);
	rdma_destroy_ep(id);

	conn_must_open(NULL, 0);
	null_works("other connections work after all that");
	for (i = 0; i < 12; i++, usleep(300)) {
		header(1, MSG);
		read_segment(NULL_LEN, 0, 100000);
		end_lists(3);
		null_call(xid);
		send_bytes(words * 4);
	}
	/* Leave with Calls under way, and without a word */
	_exit(failed ? 1 : 0);
}

int main(int argc, char **argv)
{
	/* RFC 8797: version 1, no remote invalidation, 4096 bytes each way */
	static const uint8_t private[] = { 0xf6, 0xab, 0x0e, 0x18, 1, 0, 3, 3 };

	if (argc != 3) {
		fprintf(stderr, "usage: hostile ADDRESS PORT\n");
		return 2;
	}
	address = argv[1];
	port = argv[2];

	conn_must_open(private, sizeof(private));
	null_works("a NULL Call");
	versions_and_types();
	bad_lists();
	bad_reads();
	long_calls();
	odd_reads();
	replies();
	null_works("the first connection has survived all that");
	conn_close();
	broken_connections();
	return 0;
}
