/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the library for test programs share: peer.c, which has its functions that are
 * the same for all providers; the back ends peer_verbs.c and peer_kernel.c, of which a library has
 * one; and the kernel module behind peer_kernel.c (kpeer.c).
 */
#ifndef PEER_H
#define PEER_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define NCONNS		512
#define SQ_DEPTH	512
#define MSG_SIZE	65536
#define FIRST_ID	(1 << 20)	/* of work requests that the caller posts */

enum { NOTHING, REQUEST, UP, RECEIVED, DONE, LOST };

enum { PEER_SEND, PEER_SEND_INV, PEER_WRITE, PEER_READ };

struct event {
	int kind, conn;
	int status;		/* of a work completion; LOST: rdma_cm_event_type */
	int length;		/* of data */
	uint32_t invalidated;	/* handle that the message has invalidated, or 0 */
	uint32_t depth;		/* REQUEST, UP: number of RDMA Reads that the other end serves */
	uint64_t id;		/* DONE: ID of the work request */
	uint8_t data[MSG_SIZE];	/* message, or private data */
};

/* What /dev/rpcrdma_kpeer does. Each number is that of an ioctl with a struct peer_args. */
enum {
	PEER_REGISTER, PEER_UNREGISTER, PEER_LISTEN, PEER_CONNECT, PEER_ACCEPT, PEER_REJECT,
	PEER_CLOSE, PEER_DISCONNECT, PEER_KEEP, PEER_POST, PEER_POLL,
	PEER_PORT, PEER_DIE
};

/* The arena is mapped at an offset that is its address modulo this. */
#define PEER_BLOCK	(256 << 10)

struct peer_args {
	int32_t conn;
	int32_t what;		/* kind of work request; rights; number of a region; port; 1: keep */
	int32_t count, size;	/* of Receives */
	int32_t depth;
	uint8_t retries, own, silent;	/* see peer_manner() */
	uint32_t address;	/* IPv4, in network byte order */
	uint32_t handle, length;	/* length of memory, or of private */
	uint64_t memory;	/* address in the arena, or of a struct event */
	uint64_t offset, id;
	uint8_t private[256];
};

#ifndef __KERNEL__
/* Of the back ends. They store an event of this connection or of any one, and return its kind. */
int poll_conn(int conn, struct event *event);
int poll_any(struct event *event);

/* See the back ends. */
int peer_post(int conn, int what, uint64_t id, void *memory, uint32_t length, uint64_t offset,
	      uint32_t handle);
#endif

#endif /* PEER_H */
