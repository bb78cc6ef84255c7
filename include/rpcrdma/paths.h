/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Paths: the addresses from which a client connects, and the addresses of the server to which it
 * connects. The administrator writes them into the table of paths (client/paths.c).
 */
#ifndef RPCRDMA_PATHS_H
#define RPCRDMA_PATHS_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/* Maximum number of sources, and of destinations, in a line. The mount option nconnect of NFS has
 * the same maximum.
 */
#define RPCRDMA_PATHS_MAX	16u

/* Size of an interface's name, with its NUL. The kernel has the same limit. */
#define RPCRDMA_PATHS_DEV	16u

/* Seconds for which a path that has failed is avoided, if there is another one */
#define RPCRDMA_PATH_REST	60u

/* A transport whose first path has failed uses another one. Then it probes its first path at
 * intervals of this many seconds, to return to it (client/paths.c).
 */
#define RPCRDMA_PATH_AGAIN	30u

/**
 * enum rpcrdma_addr_family - kind of address
 * @RPCRDMA_ADDR_NONE: no address
 * @RPCRDMA_ADDR_4: IPv4
 * @RPCRDMA_ADDR_6: IPv6
 */
enum rpcrdma_addr_family {
	RPCRDMA_ADDR_NONE	= 0,
	RPCRDMA_ADDR_4		= 4,
	RPCRDMA_ADDR_6		= 6,
};

/**
 * struct rpcrdma_addr - an address without a port, or an interface
 * @ad_family: an enum rpcrdma_addr_family. %RPCRDMA_ADDR_NONE means an interface if @ad_dev
 *	is not empty. Otherwise it means "default": every destination without a line of its own.
 * @ad_bytes: the address in network byte order; the bytes that the family does not use are 0
 * @ad_dev: name of an interface, or the scope of an IPv6 address; the rest is filled with NULs
 */
struct rpcrdma_addr {
	u8	ad_family;
	u8	ad_bytes[16];
	char	ad_dev[RPCRDMA_PATHS_DEV];
};

/**
 * struct rpcrdma_paths - one line of the table of paths
 * @pw_to: the destination: the server's address as mounts name it, or "default"
 * @pw_src: sources: addresses or interfaces
 * @pw_nsrc: number of entries of @pw_src in use; 0 if the kernel chooses the source
 * @pw_dst: addresses of the server
 * @pw_ndst: number of entries of @pw_dst in use; 0 if @pw_to is the only address
 * @pw_tos: type of service; -1 if the line has none
 * @pw_ack_timeout: the adapter waits 4.096 us * 2^@pw_ack_timeout for an acknowledgment, or
 *	without limit if this is 0; -1 if the line has none
 *
 * Path I has source I and destination I. The shorter list is repeated.
 */
struct rpcrdma_paths {
	struct rpcrdma_addr	pw_to;
	struct rpcrdma_addr	pw_src[RPCRDMA_PATHS_MAX];
	struct rpcrdma_addr	pw_dst[RPCRDMA_PATHS_MAX];
	u8			pw_nsrc;
	u8			pw_ndst;
	int			pw_tos;
	int			pw_ack_timeout;
};

/**
 * struct rpcrdma_path_state - which paths of one transport have failed
 * @ph_until: for each path, the time in seconds until which it is avoided
 *
 * All members are 0 at first.
 */
struct rpcrdma_path_state {
	u64	ph_until[RPCRDMA_PATHS_MAX];
};

int rpcrdma_paths_parse(struct rpcrdma_paths *paths, char *line);
u32 rpcrdma_path_choose(const struct rpcrdma_path_state *state, u32 count,
			u32 number, u64 now);

/* Do two addresses have the same family, bytes and scope? */
static inline bool rpcrdma_addr_same(const struct rpcrdma_addr *a,
				     const struct rpcrdma_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Does the line have no options, but only a destination? */
static inline bool rpcrdma_paths_empty(const struct rpcrdma_paths *paths)
{
	return !paths->pw_nsrc && !paths->pw_ndst && paths->pw_tos < 0 &&
	       paths->pw_ack_timeout < 0;
}

/* Returns the number of paths, which is at least 1. */
static inline u32 rpcrdma_paths_count(const struct rpcrdma_paths *paths)
{
	return max(paths->pw_nsrc, paths->pw_ndst) ?: 1;
}

/* Returns the source of a path, or NULL if the kernel chooses it. */
static inline const struct rpcrdma_addr *
rpcrdma_paths_src(const struct rpcrdma_paths *paths, u32 path)
{
	return paths->pw_nsrc ? &paths->pw_src[path % paths->pw_nsrc] : NULL;
}

/* Returns the destination of a path, or NULL if it is the one that the mount names. */
static inline const struct rpcrdma_addr *
rpcrdma_paths_dst(const struct rpcrdma_paths *paths, u32 path)
{
	return paths->pw_ndst ? &paths->pw_dst[path % paths->pw_ndst] : NULL;
}

/* Returns the path that transport number @number uses when all its paths work: its first path. */
static inline u32 rpcrdma_path_home(u32 count, u32 number)
{
	return number % count;
}

/* Called when a path has failed, @now in seconds. */
static inline void rpcrdma_path_fail(struct rpcrdma_path_state *state, u32 path,
				     u64 now)
{
	state->ph_until[path] = now + RPCRDMA_PATH_REST;
}

/* Called when a path works. */
static inline void rpcrdma_path_good(struct rpcrdma_path_state *state, u32 path)
{
	state->ph_until[path] = 0;
}

#endif /* RPCRDMA_PATHS_H */
