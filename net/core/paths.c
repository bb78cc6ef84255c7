// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: reads a line of the table of paths, and chooses the path of a connection.
 *
 * A line is a destination, followed by options in any order:
 *
 *	<address>|default [src=<source>,...] [dst=<address>,...] [tos=N] [ack_timeout=N]
 *
 * A source is an address or an interface. An IPv6 address may have a scope (fe80::1%eth0), and must
 * have one if it is link-local. The line "default" is for all destinations that have no line of
 * their own. It may name interfaces, but no addresses, because no address fits every destination.
 *
 * Connection K of a destination begins with path K modulo the number of paths. If that path fails,
 * the connection takes another one. Which one comes next depends on K, too, so that the load of a
 * failed path is divided among the paths that work. A path that has failed is avoided for a minute,
 * unless all paths have failed (G-40). The caller supplies the current time.
 */

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/string.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/paths.h>

/* Reads the name of an interface. A name of digits and dots only, or with a colon or a slash, is
 * more likely a mistyped address.
 */
static bool rpcrdma_addr_dev(struct rpcrdma_addr *addr, const char *name)
{
	size_t len = strlen(name);

	if (len >= RPCRDMA_PATHS_DEV || strspn(name, "0123456789.") == len ||
	    strpbrk(name, ":/"))
		return false;
	memcpy(addr->ad_dev, name, len);
	return true;
}

/* Reads an address into @addr, whose bytes are 0. If @dev is true, an interface is allowed, too.
 * These are not addresses of a host: multicast, broadcast, 0.0.0.0/8, the unspecified address of
 * IPv6, and a link-local address without its interface.
 */
static int rpcrdma_addr_parse(struct rpcrdma_addr *addr, const char *text,
			      bool dev)
{
	static const u8 broadcast[] = { 0xff, 0xff, 0xff, 0xff };
	static const u8 unspecified[sizeof(addr->ad_bytes)];
	u8 *bytes = addr->ad_bytes;
	const char *end;
	bool valid;

	if (in4_pton(text, -1, bytes, -1, &end) && !*end) {
		addr->ad_family = RPCRDMA_ADDR_4;
		valid = bytes[0] && (bytes[0] & 0xf0) != 0xe0 &&
			memcmp(bytes, broadcast, sizeof(broadcast));
	} else if (in6_pton(text, -1, bytes, '%', &end) &&
		   (!*end || (*end == '%' && rpcrdma_addr_dev(addr, end + 1)))) {
		addr->ad_family = RPCRDMA_ADDR_6;
		valid = bytes[0] != 0xff &&
			memcmp(bytes, unspecified, sizeof(unspecified));
		if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
			valid = addr->ad_dev[0];
	} else {
		valid = dev && rpcrdma_addr_dev(addr, text);
	}
	return valid ? 0 : -EINVAL;
}

/* Reads a list into @list. If @list is not empty, the line has the same option twice, which is an
 * error. All addresses of a line must be of @family, because a transport has one netid on all its
 * paths: "rdma" for IPv4, or "rdma6" for IPv6. Interfaces have no family. For "default", @family is
 * %RPCRDMA_ADDR_NONE, so that every address is an error.
 */
static int rpcrdma_paths_list(struct rpcrdma_addr *list, u8 *count,
			      char *rest, u8 family, bool dev)
{
	const char *text;
	int rc;

	if (*count)
		return -EINVAL;
	while ((text = strsep(&rest, ","))) {
		if (*count == RPCRDMA_PATHS_MAX)
			return -E2BIG;
		rc = rpcrdma_addr_parse(&list[*count], text, dev);
		if (rc)
			return rc;
		if (list[*count].ad_family && list[*count].ad_family != family)
			return -EAFNOSUPPORT;
		++*count;
	}
	return 0;
}

/* Reads a number that is at most @max into *@value. If *@value is not -1 before, the line has the
 * same option twice, which is an error.
 */
static int rpcrdma_paths_number(int *value, const char *text, u8 max)
{
	u8 number;
	int rc;

	if (*value >= 0)
		return -EINVAL;
	rc = kstrtou8(text, 10, &number);
	if (rc)
		return rc;
	*value = number;
	return number > max ? -ERANGE : 0;
}

static int rpcrdma_paths_option(struct rpcrdma_paths *paths, char *value)
{
	const char *name = strsep(&value, "=");
	u8 family = paths->pw_to.ad_family;

	if (!value)
		return -EINVAL;
	if (!strcmp(name, "src"))
		return rpcrdma_paths_list(paths->pw_src, &paths->pw_nsrc, value,
					  family, true);
	if (!strcmp(name, "dst"))
		return rpcrdma_paths_list(paths->pw_dst, &paths->pw_ndst, value,
					  family, false);
	if (!strcmp(name, "tos"))
		return rpcrdma_paths_number(&paths->pw_tos, value, 255);
	if (!strcmp(name, "ack_timeout"))
		return rpcrdma_paths_number(&paths->pw_ack_timeout, value, 31);
	return -EINVAL;
}

/**
 * rpcrdma_paths_parse - read a line of the table of paths
 * @paths: OUT: the line; undefined after an error
 * @line: text, without the end of the line; this function cuts it into words
 *
 * Context: any.
 * Return: 0; %-EAFNOSUPPORT if the line mixes IPv4 and IPv6, or if "default" has an address;
 *	%-E2BIG if a list is too long; %-ERANGE if a number is too large; %-EINVAL for any other
 *	mistake.
 */
int rpcrdma_paths_parse(struct rpcrdma_paths *paths, char *line)
{
	bool begun = false;
	char *word;
	int rc;

	memset(paths, 0, sizeof(*paths));
	paths->pw_tos = -1;
	paths->pw_ack_timeout = -1;
	while ((word = strsep(&line, " \t"))) {
		if (!*word)
			continue;
		if (begun)
			rc = rpcrdma_paths_option(paths, word);
		else if (!strcmp(word, "default"))
			rc = 0;
		else
			rc = rpcrdma_addr_parse(&paths->pw_to, word, false);
		if (rc)
			return rc;
		begun = true;
	}
	return begun ? 0 : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_paths_parse);

/**
 * rpcrdma_path_choose - choose the path for an attempt to connect
 * @state: what the connection has seen of its paths
 * @count: number of paths, at least 1
 * @number: number of the connection among those to the same destination
 * @now: time in seconds
 *
 * Context: any.
 * Return: index of a path. Of the paths that need not be avoided, it is the first one in the
 *	order of this connection, which begins with its first path. If all must be avoided, it
 *	is the one that may be used again the soonest.
 */
u32 rpcrdma_path_choose(const struct rpcrdma_path_state *state, u32 count,
			u32 number, u64 now)
{
	u32 home = rpcrdma_path_home(count, number);
	u32 nth, path = home, best = home;

	for (nth = 0; nth < count; nth++) {
		if (nth)
			path = (home + 1 + (number / count + nth - 1) %
				(count - 1)) % count;
		if (state->ph_until[path] <= now)
			return path;
		if (state->ph_until[path] < state->ph_until[best])
			best = path;
	}
	return best;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_path_choose);
