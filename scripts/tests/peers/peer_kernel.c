// SPDX-License-Identifier: GPL-2.0
/*
 * The back end of peer.c for providers without verbs for user space: the module kpeer.c does it all.
 * What only the group many calls is missing.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include "peer.h"

static int device;
static struct peer_args manner;

static int call(int what, struct peer_args *args)
{
	return ioctl(device, _IOWR('p', what, struct peer_args), args);
}

static int call_conn(int what, int conn)
{
	struct peer_args args = { .conn = conn };

	return call(what, &args);
}

/* --- setting up --- */

uint32_t peer_register(void *memory, size_t size, int access, void **region)
{
	struct peer_args args = {
		.memory = (uintptr_t)memory, .length = size, .what = access,
	};
	int number = call(PEER_REGISTER, &args);

	*region = (void *)(intptr_t)number;
	return number < 0 ? 0 : args.handle;
}

/* The module's memory takes the place of the caller's. */
uint32_t peer_init(void *memory, size_t size)
{
	void *region;

	device = open("/dev/rpcrdma_kpeer", O_RDWR | O_CLOEXEC);
	if (device < 0 || mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, device,
			       (uintptr_t)memory % PEER_BLOCK) == MAP_FAILED)
		return 0;
	return peer_register(memory, size, 3, &region);
}

int peer_unregister(void *region)
{
	struct peer_args args = { .what = (intptr_t)region };

	return call(PEER_UNREGISTER, &args);
}

int peer_listen(const char *port)
{
	struct peer_args args = { .what = atoi(port) };

	return call(PEER_LISTEN, &args);
}

static int call_private(int what, struct peer_args *args, const void *private, int private_len)
{
	args->length = private_len;
	if (private_len > (int)sizeof(args->private))
		return -1;
	memcpy(args->private, private, private_len);
	return call(what, args);
}

int peer_connect(const char *address, const char *port, int count, int size, int depth,
		 const void *private, int private_len)
{
	struct peer_args args = manner;

	args.what = atoi(port);
	args.count = count;
	args.size = size;
	args.depth = depth;
	args.address = inet_addr(address);

	return call_private(PEER_CONNECT, &args, private, private_len);
}

int peer_accept(int conn, int count, int size, int depth, const void *private, int private_len)
{
	struct peer_args args = { .conn = conn, .count = count, .size = size, .depth = depth };

	return call_private(PEER_ACCEPT, &args, private, private_len);
}

/* How the next connections behave: see peer_verbs.c. */
void peer_manner(int retries, int own, int silent)
{
	manner = (struct peer_args){ .retries = retries, .own = own, .silent = silent };
}

int peer_port(int conn)
{
	return call_conn(PEER_PORT, conn);
}

int peer_die(int conn)
{
	return call_conn(PEER_DIE, conn);
}

int peer_reject(int conn)
{
	return call_conn(PEER_REJECT, conn);
}

void peer_close(int conn)
{
	call_conn(PEER_CLOSE, conn);
}

int peer_disconnect(int conn)
{
	return call_conn(PEER_DISCONNECT, conn);
}

/* --- talking --- */

void peer_keep(int conn, int keep)
{
	struct peer_args args = { .conn = conn, .what = keep };

	call(PEER_KEEP, &args);
}

int peer_post(int conn, int what, uint64_t id, void *memory, uint32_t length, uint64_t offset,
	      uint32_t handle)
{
	struct peer_args args = {
		.conn = conn, .what = what, .id = id, .memory = (uintptr_t)memory,
		.length = length, .offset = offset, .handle = handle,
	};

	return call(PEER_POST, &args);
}

int poll_conn(int conn, struct event *event)
{
	struct peer_args args = { .conn = conn, .memory = (uintptr_t)event };
	int kind = call(PEER_POLL, &args);

	return kind < 0 ? NOTHING : kind;
}

int poll_any(struct event *event)
{
	return poll_conn(-1, event);
}
