// SPDX-License-Identifier: GPL-2.0
/*
 * Client: the table of paths of a network namespace, and the path of each transport.
 *
 * The administrator writes the table (/proc/sys/sunrpc/rdma_paths, see module/sysctl.c). A line has
 * the paths to one destination, which is a server's address as mounts name it. The line "default"
 * has the paths to all destinations without a line of their own. A path has a source (a local
 * address or interface) and an address of the server. If the line has no sources, the kernel's
 * routes decide. If it has no addresses of the server, the destination is the address (struct
 * rpcrdma_paths). This file owns the lines of the table. core/paths.c parses a line, and chooses a
 * path. This file makes no connection that sunrpc uses.
 *
 * Operation
 *
 * A line never changes. If the administrator writes another line for the same destination, that
 * line replaces the old one in the table. A transport that uses the old line keeps it until the
 * transport connects again. So a change of the table breaks no connection.
 *
 * The transports with the same destination in a namespace are numbered: a new one gets the
 * lowest free number (if 0 to 63 are taken, see xprt_rdma_paths_join_locked()). For example, the
 * transports of the first mount (nconnect) have the numbers 0, 1, 2 and so on. If a further mount
 * has transports of its own, these get the next numbers. The number of a transport determines its
 * first path, the one that it uses as long as all its paths work (see struct xprt_rdma_paths). This
 * divides the transports among the paths, in most cases evenly (G-40).
 *
 * Transports do not tell each other which paths work: each one finds this out for itself.
 *
 * While a transport uses another path than its first one, a work item probes the first path every
 * 30 seconds (%RPCRDMA_PATH_AGAIN): it makes a connection that carries no message, and closes this
 * connection at once. If the server accepts it, the work item asks sunrpc to close the transport's
 * connection, and the next one is made by the first path. Without such a probe, a connection that
 * works would be closed only to try a path that may still be down.
 *
 * If the connection were closed before a Reply came, the Call would be sent again by the first
 * path, usually from another address. An NFSv3 or NFSv4.0 server may not recognise such a Call, and
 * may execute it twice. So the work item first lets Replies come, and sends no Call meanwhile
 * (xprt_rdma_credit_drain()). If they take longer than a second, the transport keeps its path until
 * the next probe.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/addr.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "trace.h"
#include "xprt_rdma.h"

/* Maximum number of lines of a table, and of bytes of a line */
#define XPRT_RDMA_PATHS_LINES	256u
#define XPRT_RDMA_PATHS_LINE	2048u

/* A C library or a shell may split a text that it writes to /proc into pieces of this size, in
 * bytes.
 */
#define XPRT_RDMA_PATHS_PIECE	1024u

/* Maximum number of bytes of a bad line that are printed */
#define XPRT_RDMA_PATHS_SHOWN	80u

/**
 * struct xprt_rdma_line - a line of the table
 * @li_list: link in tn_lines, under tn_lock; or in the list of xprt_rdma_paths_write(), before the
 *	line is added to the table, or after it was removed
 * @li_refs: references: one of the list that @li_list is in, and one of each transport that uses
 *	the line
 * @li_paths: the contents of the line
 * @li_len: length of @li_text in bytes
 * @li_text: the line as it was written, and a newline; no NUL
 */
struct xprt_rdma_line {
	struct list_head	li_list;
	refcount_t		li_refs;
	struct rpcrdma_paths	li_paths;
	size_t			li_len;
	char			li_text[];
};

/**
 * struct xprt_rdma_net - what the client has for each network namespace
 * @tn_lock: protects all other members, and the th\_ members of the namespace's transports
 * @tn_lines: the table of paths
 * @tn_xprts: transports, linked by th_list
 */
struct xprt_rdma_net {
	spinlock_t		tn_lock;	/* everything below, th_ */
	struct list_head	tn_lines;
	struct list_head	tn_xprts;
};

static unsigned int xprt_rdma_net_id;

static struct xprt_rdma_net *xprt_rdma_net_of(struct net *net)
{
	return net_generic(net, xprt_rdma_net_id);
}

static struct xprt_rdma_net *xprt_rdma_net_from(struct xprt_rdma *xr)
{
	return xprt_rdma_net_of(xr->xr_xprt.xprt_net);
}

static void xprt_rdma_line_put(struct xprt_rdma_line *line)
{
	if (line && refcount_dec_and_test(&line->li_refs))
		kfree(line);
}

static void xprt_rdma_lines_put(struct list_head *lines)
{
	struct xprt_rdma_line *line, *next;

	list_for_each_entry_safe(line, next, lines, li_list) {
		list_del(&line->li_list);
		xprt_rdma_line_put(line);
	}
}

static struct xprt_rdma_line *xprt_rdma_line_find(struct xprt_rdma_net *tn,
						  const struct rpcrdma_addr *to)
{
	struct xprt_rdma_line *line;

	list_for_each_entry(line, &tn->tn_lines, li_list)
		if (rpcrdma_addr_same(&line->li_paths.pw_to, to))
			return line;
	return NULL;
}

static int xprt_rdma_line_create(struct list_head *lines, const char *text)
{
	struct xprt_rdma_line *line;
	size_t len = strlen(text);
	int rc;

	if (len > XPRT_RDMA_PATHS_LINE)
		return -E2BIG;
	line = kzalloc(struct_size(line, li_text, len + 1), GFP_KERNEL_ACCOUNT);
	if (!line)
		return -ENOMEM;
	memcpy(line->li_text, text, len);
	rc = rpcrdma_paths_parse(&line->li_paths, line->li_text);
	if (rc) {
		kfree(line);
		return rc;
	}
	refcount_set(&line->li_refs, 1);
	memcpy(line->li_text, text, len);
	line->li_text[len] = '\n';
	line->li_len = len + 1;
	list_add_tail(&line->li_list, lines);
	return 0;
}

/* Reads all lines. A semicolon ends a line, too, because in sysctl.conf a whole setting must be on
 * one line. Blank lines and comments are ignored. A write may have at most %XPRT_RDMA_PATHS_LINES
 * lines, like the table: any user may be the administrator of a network namespace, and must not be
 * able to take much memory.
 *
 * If a line has an error, prints the beginning of the line, to show the administrator which line it
 * is. A namespace may belong to a container, so the rate of messages is limited.
 */
static int xprt_rdma_lines_read(struct list_head *lines, char *text)
{
	const char *line, *first;
	u32 count = 0;
	int rc;

	while ((line = strsep(&text, "\n;"))) {
		cond_resched();
		first = line + strspn(line, " \t");
		if (!*first || *first == '#')
			continue;
		if (count++ == XPRT_RDMA_PATHS_LINES)
			return -ENOSPC;
		rc = xprt_rdma_line_create(lines, line);
		if (!rc)
			continue;
		if (rc != -ENOMEM)
			pr_warn_ratelimited("rpcrdma: rdma_paths: error %d in the line: %*pE\n",
					    rc,
					    (int)strnlen(line, XPRT_RDMA_PATHS_SHOWN),
					    line);
		return rc;
	}
	return 0;
}

/* Adds lines to the table. Moves the lines that these replace to @lines, where empty lines stay.
 * The caller frees what is in @lines afterwards.
 */
static int xprt_rdma_lines_apply(struct xprt_rdma_net *tn,
				 struct list_head *lines)
{
	struct xprt_rdma_line *line, *next, *old;
	u32 count = 0;

	spin_lock(&tn->tn_lock);
	/* This is an upper bound on the number of lines: those that are removed are not subtracted,
	 * and a new destination that occurs twice counts twice.
	 */
	list_for_each_entry(line, &tn->tn_lines, li_list)
		count++;
	list_for_each_entry(line, lines, li_list)
		count += !rpcrdma_paths_empty(&line->li_paths) &&
			 !xprt_rdma_line_find(tn, &line->li_paths.pw_to);
	if (count > XPRT_RDMA_PATHS_LINES) {
		spin_unlock(&tn->tn_lock);
		return -ENOSPC;
	}
	list_for_each_entry_safe(line, next, lines, li_list) {
		old = xprt_rdma_line_find(tn, &line->li_paths.pw_to);
		if (old)
			list_move(&old->li_list, lines);
		if (!rpcrdma_paths_empty(&line->li_paths))
			list_move_tail(&line->li_list, &tn->tn_lines);
	}
	spin_unlock(&tn->tn_lock);
	return 0;
}

/**
 * xprt_rdma_paths_write - change the table of paths
 * @net: network namespace
 * @text: lines, and a NUL; changed. Each line replaces the old line of its destination. A line
 *	without options only removes the old line.
 * @len: length of @text in bytes
 *
 * If this fails, the table is not changed.
 *
 * Context: process; sleeps.
 * Return: 0; %-ENOSPC if @text has, or the table could get, too many lines; %-E2BIG if a line is
 *	too long; %-EINVAL if the last line may be incomplete, or @text has a NUL inside; %-ENOMEM;
 *	or an error of rpcrdma_paths_parse().
 */
int xprt_rdma_paths_write(struct net *net, char *text, size_t len)
{
	LIST_HEAD(lines);
	int rc;

	/* If this is only a piece of what the administrator has written, the last line may be
	 * incomplete. It could still be valid, but with a wrong address.
	 */
	if (len >= XPRT_RDMA_PATHS_PIECE && text[len - 1] != '\n') {
		pr_warn_ratelimited("rpcrdma: rdma_paths: a write of %zu bytes does not end with a newline\n",
				    len);
		return -EINVAL;
	}
	if (strnlen(text, len) != len)
		return -EINVAL;
	rc = xprt_rdma_lines_read(&lines, text) ?:
	     xprt_rdma_lines_apply(xprt_rdma_net_of(net), &lines);
	xprt_rdma_lines_put(&lines);
	return rc;
}

/**
 * xprt_rdma_paths_read - show the table of paths
 * @net: network namespace
 * @buf: OUT: lines, without a NUL
 * @size: size of @buf in bytes
 * @skip: number of bytes of the table to leave out
 *
 * Context: process.
 * Return: number of bytes in @buf.
 */
size_t xprt_rdma_paths_read(struct net *net, char *buf, size_t size,
			    loff_t skip)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_of(net);
	struct xprt_rdma_line *line;
	size_t len, done = 0;

	spin_lock(&tn->tn_lock);
	list_for_each_entry(line, &tn->tn_lines, li_list) {
		if (skip >= line->li_len) {
			skip -= line->li_len;
			continue;
		}
		len = min_t(size_t, line->li_len - skip, size - done);
		memcpy(buf + done, line->li_text + skip, len);
		done += len;
		skip = 0;
	}
	spin_unlock(&tn->tn_lock);
	return done;
}

/* Sets @ss to an address of the table, but does not change its port. If @addr is only an interface,
 * @ss does not change. Returns the index of the interface or of the scope, or 0 if @addr has none;
 * or -ENODEV.
 */
static int xprt_rdma_paths_addr(struct net *net,
				const struct rpcrdma_addr *addr,
				struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;
	struct net_device *dev;
	int index = 0;

	if (addr->ad_dev[0]) {
		rcu_read_lock();
		dev = dev_get_by_name_rcu(net, addr->ad_dev);
		index = dev ? dev->ifindex : -ENODEV;
		rcu_read_unlock();
	}
	if (addr->ad_family == RPCRDMA_ADDR_4) {
		ss->ss_family = AF_INET;
		memcpy(&sin->sin_addr, addr->ad_bytes, sizeof(sin->sin_addr));
	} else if (addr->ad_family == RPCRDMA_ADDR_6) {
		ss->ss_family = AF_INET6;
		sin6->sin6_scope_id = index;
		memcpy(&sin6->sin6_addr, addr->ad_bytes,
		       sizeof(sin6->sin6_addr));
	}
	return index;
}

/* Sets @path to path @index of a transport. */
static int xprt_rdma_paths_describe_locked(struct xprt_rdma *xr, u32 index,
					   struct rpcrdma_conn_path *path)
{
	const struct xprt_rdma_line *line = xr->xr_paths.th_line;
	struct net *net = xr->xr_xprt.xprt_net;
	const struct rpcrdma_addr *src, *dst;
	int rc = 0;

	lockdep_assert_held(&xprt_rdma_net_from(xr)->tn_lock);
	rpcrdma_conn_path_init(path, &xr->xr_paths.th_to);
	if (!line)
		return 0;
	path->np_tos = line->li_paths.pw_tos;
	path->np_ack_timeout = line->li_paths.pw_ack_timeout;
	src = rpcrdma_paths_src(&line->li_paths, index);
	dst = rpcrdma_paths_dst(&line->li_paths, index);
	if (dst)
		rc = xprt_rdma_paths_addr(net, dst, &path->np_dst);
	if (rc >= 0 && src) {
		rc = xprt_rdma_paths_addr(net, src, &path->np_src);
		if (!src->ad_family)
			path->np_ifindex = max(rc, 0);
	}
	return min(rc, 0);
}

/* Returns the line of the table for a transport's destination, or else the line for all
 * destinations.
 */
static struct xprt_rdma_line *
xprt_rdma_line_match_locked(struct xprt_rdma_net *tn, struct xprt_rdma *xr)
{
	struct sockaddr_storage *to = &xr->xr_paths.th_to, ss = { };
	struct xprt_rdma_line *line, *any = NULL;
	struct net *net = xr->xr_xprt.xprt_net;
	const struct rpcrdma_addr *addr;

	lockdep_assert_held(&tn->tn_lock);
	list_for_each_entry(line, &tn->tn_lines, li_list) {
		addr = &line->li_paths.pw_to;
		if (!addr->ad_family)
			any = line;
		else if (xprt_rdma_paths_addr(net, addr, &ss) >= 0 &&
			 rpc_cmp_addr((struct sockaddr *)&ss, (struct sockaddr *)to))
			return line;
	}
	return any;
}

/* Numbers a transport that is new, or whose destination has changed. An administrator can change
 * the destination of a transport (dstaddr in sysfs). The transport gets the lowest number below 64
 * that no other transport to the same destination has. If all of these are taken, it gets the
 * number of transports to this destination.
 */
static void xprt_rdma_paths_join_locked(struct xprt_rdma_net *tn,
					struct xprt_rdma *xr)
{
	const struct sockaddr *to = (struct sockaddr *)&xr->xr_xprt.addr;
	struct xprt_rdma_paths *th = &xr->xr_paths, *other;
	bool joined = !list_empty(&th->th_list) &&
		      rpc_cmp_addr((struct sockaddr *)&th->th_to, to);
	u32 count = 0;
	u64 used = 0;

	lockdep_assert_held(&tn->tn_lock);
	th->th_to = xr->xr_xprt.addr;
	if (joined)
		return;
	list_del_init(&th->th_list);
	list_for_each_entry(other, &tn->tn_xprts, th_list) {
		if (!rpc_cmp_addr((struct sockaddr *)&other->th_to, to))
			continue;
		count++;
		if (other->th_number < 64)
			used |= BIT_ULL(other->th_number);
	}
	th->th_number = ~used ? __ffs64(~used) : count;
	list_add_tail(&th->th_list, &tn->tn_xprts);
}

/* Notes whether a path of a transport works. Returns true if it does not. A lack of memory or of
 * local ports does not show this.
 */
static bool xprt_rdma_paths_note_locked(struct xprt_rdma *xr, u32 path, int rc)
{
	struct rpcrdma_path_state *state = &xr->xr_paths.th_state;

	lockdep_assert_held(&xprt_rdma_net_from(xr)->tn_lock);
	switch (rc) {
	case 0:
		rpcrdma_path_good(state, path);
		return false;
	case -EADDRINUSE:
	case -ENOBUFS:
	case -ENOMEM:
		return false;
	default:
		rpcrdma_path_fail(state, path, ktime_get_seconds());
		return true;
	}
}

/**
 * xprt_rdma_paths_begin - prepare the choice of a path
 * @xr: transport that is going to connect
 *
 * Looks up the line of the table for the transport's destination, and sets th_count. If this is
 * another line than before, discards what is known of the paths, because the indices of paths now
 * stand for other paths.
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_paths_begin(struct xprt_rdma *xr)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);
	struct xprt_rdma_paths *th = &xr->xr_paths;
	struct xprt_rdma_line *line;

	spin_lock(&tn->tn_lock);
	xprt_rdma_paths_join_locked(tn, xr);
	line = xprt_rdma_line_match_locked(tn, xr);
	th->th_count = line ? rpcrdma_paths_count(&line->li_paths) : 1;
	if (line != th->th_line) {
		xprt_rdma_line_put(th->th_line);
		if (line)
			refcount_inc(&line->li_refs);
		th->th_line = line;
		memset(&th->th_state, 0, sizeof(th->th_state));
	}
	spin_unlock(&tn->tn_lock);
}

/**
 * xprt_rdma_paths_choose - choose the path for an attempt to connect
 * @xr: transport, after xprt_rdma_paths_begin()
 *
 * Context: process. Send lock held.
 * Return: 0, and xr_path is the path; %-ENODEV if the path's interface does not exist.
 */
int xprt_rdma_paths_choose(struct xprt_rdma *xr)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);
	struct xprt_rdma_paths *th = &xr->xr_paths;
	int rc;

	spin_lock(&tn->tn_lock);
	th->th_path = rpcrdma_path_choose(&th->th_state, th->th_count,
					  th->th_number, ktime_get_seconds());
	rc = xprt_rdma_paths_describe_locked(xr, th->th_path, &xr->xr_path);
	spin_unlock(&tn->tn_lock);
	return rc;
}

/**
 * xprt_rdma_paths_tried - note the result of an attempt to connect, or the end of a connection
 * @xr: transport
 * @rc: 0 if the path works, or the error
 *
 * A path that has failed is avoided for a while (rpcrdma_path_fail()), so that the next attempt
 * does not wait for an answer on a link that may be down.
 *
 * Context: process. Send lock held.
 * Return: true if the path has failed, so that another one may work.
 */
bool xprt_rdma_paths_tried(struct xprt_rdma *xr, int rc)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);
	struct xprt_rdma_paths *th = &xr->xr_paths;
	bool blamed;

	spin_lock(&tn->tn_lock);
	blamed = xprt_rdma_paths_note_locked(xr, th->th_path, rc);
	if (blamed && th->th_count > 1) {
		rpcrdma_count(client_path_failures);
		trace_xprt_rdma_path_fail(xr, th->th_path, rc);
	}
	spin_unlock(&tn->tn_lock);
	return blamed;
}

/* Does nothing: the functions that open the connection of a probe return an error if they fail, and
 * an open connection is closed at once.
 */
static void xprt_rdma_paths_probe_lost(struct rpcrdma_conn *conn)
{
}

/* A probe posts no Receive, so .receive is never called. */
static const struct rpcrdma_conn_ops xprt_rdma_paths_probe_ops = {
	.lost	= xprt_rdma_paths_probe_lost,
};

static int xprt_rdma_paths_probe(struct net *net,
				 const struct rpcrdma_conn_path *path)
{
	const struct rpcrdma_cm_private ours = {
		.cp_send_size	= xprt_rdma_max_inline_write,
		.cp_recv_size	= xprt_rdma_max_inline_read,
		.cp_remote_inv	= rpcrdma_remote_inv,
	};
	struct rpcrdma_conn *conn;
	int rc;

	conn = kzalloc(sizeof(*conn), GFP_KERNEL);
	if (!conn)
		return -ENOMEM;
	rpcrdma_conn_init(conn, &xprt_rdma_paths_probe_ops);
	rc = rpcrdma_conn_resolve(conn, net, path, XPRT_RDMA_RESOLVE_TIMEOUT);
	if (!rc)
		rc = rpcrdma_conn_create_qp(conn, 1, 1, 1);
	if (!rc)
		rc = rpcrdma_conn_connect(conn, &ours,
					  XPRT_RDMA_CONNECT_TIMEOUT);
	rpcrdma_conn_close(conn);
	kfree(conn);
	return rc;
}

/* Probes the first path. If it works, has the connection closed, and sunrpc makes the next one.
 * Meanwhile, the connection may end, and the transport may use another line of the table, or its
 * first path. connect_cookie shows this, and then nothing is closed. Returns false if the transport
 * uses its first path, or will connect anyway.
 */
static bool xprt_rdma_paths_return(struct xprt_rdma *xr)
{
	unsigned int cookie = READ_ONCE(xr->xr_xprt.connect_cookie);
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);
	struct xprt_rdma_paths *th = &xr->xr_paths;
	struct rpcrdma_conn_path path;
	int rc, moved;
	bool away;
	u32 home;

	spin_lock(&tn->tn_lock);
	home = rpcrdma_path_home(th->th_count, th->th_number);
	away = xprt_connected(&xr->xr_xprt) && th->th_path != home;
	rc = xprt_rdma_paths_describe_locked(xr, home, &path);
	spin_unlock(&tn->tn_lock);
	if (!away)
		return false;
	if (!rc)
		rc = xprt_rdma_paths_probe(xr->xr_xprt.xprt_net, &path);
	trace_xprt_rdma_path_probe(xr, home, rc);
	moved = rc ?: xprt_rdma_credit_drain(xr, cookie);
	spin_lock(&tn->tn_lock);
	if (READ_ONCE(xr->xr_xprt.connect_cookie) == cookie)
		xprt_rdma_paths_note_locked(xr, home, rc);
	spin_unlock(&tn->tn_lock);
	if (rc)
		return true;
	trace_xprt_rdma_path_return(xr, moved);
	if (!moved) {
		rpcrdma_count(client_path_returns);
		xprt_force_disconnect(&xr->xr_xprt);
	}
	return moved == -EBUSY;
}

static void xprt_rdma_paths_work(struct work_struct *work)
{
	struct xprt_rdma *xr = container_of(to_delayed_work(work),
					    struct xprt_rdma, xr_home_work);
	unsigned int flags;

	/* The CM allocates memory under locks that any transport needs to connect. Write-back
	 * may depend on such a transport, so these allocations must not wait for write-back.
	 */
	flags = memalloc_noio_save();
	if (xprt_rdma_paths_return(xr))
		schedule_delayed_work(&xr->xr_home_work,
				      RPCRDMA_PATH_AGAIN * HZ);
	memalloc_noio_restore(flags);
}

/**
 * xprt_rdma_paths_connected - begin to probe the first path, if another one is used
 * @xr: transport that has just connected
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_paths_connected(struct xprt_rdma *xr)
{
	const struct xprt_rdma_paths *th = &xr->xr_paths;

	cancel_delayed_work(&xr->xr_home_work);
	/* Only the caller, the connect worker, writes these members. */
	if (th->th_path != rpcrdma_path_home(th->th_count, th->th_number))
		schedule_delayed_work(&xr->xr_home_work,
				      RPCRDMA_PATH_AGAIN * HZ);
}

/**
 * xprt_rdma_paths_join - number a new transport
 * @xr: transport whose address is set
 *
 * Context: process.
 */
void xprt_rdma_paths_join(struct xprt_rdma *xr)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);

	INIT_DELAYED_WORK(&xr->xr_home_work, xprt_rdma_paths_work);
	spin_lock(&tn->tn_lock);
	xprt_rdma_paths_join_locked(tn, xr);
	spin_unlock(&tn->tn_lock);
}

/**
 * xprt_rdma_paths_leave - forget a transport
 * @xr: transport that is being destroyed
 *
 * Context: process.
 */
void xprt_rdma_paths_leave(struct xprt_rdma *xr)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_from(xr);

	spin_lock(&tn->tn_lock);
	list_del_init(&xr->xr_paths.th_list);
	spin_unlock(&tn->tn_lock);
	xprt_rdma_line_put(xr->xr_paths.th_line);
}

static int __net_init xprt_rdma_net_init(struct net *net)
{
	struct xprt_rdma_net *tn = xprt_rdma_net_of(net);

	spin_lock_init(&tn->tn_lock);
	INIT_LIST_HEAD(&tn->tn_lines);
	INIT_LIST_HEAD(&tn->tn_xprts);
	return 0;
}

/* The namespace has no transport any more, because each transport holds a reference to its
 * namespace and to this module.
 */
static void __net_exit xprt_rdma_net_exit(struct net *net)
{
	xprt_rdma_lines_put(&xprt_rdma_net_of(net)->tn_lines);
}

/* Makes an empty table of paths for each network namespace */
struct pernet_operations xprt_rdma_net_ops = {
	.init	= xprt_rdma_net_init,
	.exit	= xprt_rdma_net_exit,
	.id	= &xprt_rdma_net_id,
	.size	= sizeof(struct xprt_rdma_net),
};
