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
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include <kunit/visibility.h>

#include <rpcrdma/paths.h>

/**
 * struct rpcrdma_word - a part of a line
 * @wd_text: its first byte; the word has no NUL at its end
 * @wd_len: number of bytes
 */
struct rpcrdma_word {
	const char	*wd_text;
	size_t		wd_len;
};

/* Takes the first word out of @rest. The word ends before the first byte of @rest that is one of
 * @ends, and this byte is taken, too. If @rest has no such byte, the word is all of @rest. Returns
 * true if there was such a byte, so that another word follows.
 */
static bool rpcrdma_word_cut(struct rpcrdma_word *rest, const char *ends,
			     struct rpcrdma_word *word)
{
	size_t len = 0;
	bool more;

	while (len < rest->wd_len &&
	       !memchr(ends, rest->wd_text[len], strlen(ends)))
		len++;
	more = len < rest->wd_len;
	word->wd_text = rest->wd_text;
	word->wd_len = len;
	rest->wd_text += len + more;
	rest->wd_len -= len + more;
	return more;
}

static bool rpcrdma_word_is(const struct rpcrdma_word *word, const char *text)
{
	return word->wd_len == strlen(text) &&
	       !memcmp(word->wd_text, text, word->wd_len);
}

static bool rpcrdma_word_has_letter(const struct rpcrdma_word *word)
{
	size_t i;

	for (i = 0; i < word->wd_len; i++)
		if ((word->wd_text[i] | 0x20) >= 'a' &&
		    (word->wd_text[i] | 0x20) <= 'z')
			return true;
	return false;
}

/* Can the word be the name of an interface? A word without a letter, or with a colon or a slash, is
 * more likely a mistyped address.
 */
static bool rpcrdma_word_is_dev(const struct rpcrdma_word *word)
{
	struct rpcrdma_word rest = *word, part;

	return word->wd_len && word->wd_len < RPCRDMA_PATHS_DEV &&
	       !memchr(word->wd_text, '\0', word->wd_len) &&
	       rpcrdma_word_has_letter(word) &&
	       !rpcrdma_word_cut(&rest, ":/", &part);
}

static bool rpcrdma_addr_dev(struct rpcrdma_addr *addr,
			     const struct rpcrdma_word *word)
{
	if (!rpcrdma_word_is_dev(word))
		return false;
	memcpy(addr->ad_dev, word->wd_text, word->wd_len);
	return true;
}

static bool rpcrdma_addr_parse4(struct rpcrdma_addr *addr,
				const struct rpcrdma_word *word)
{
	const char *end;

	addr->ad_family = RPCRDMA_ADDR_4;
	return in4_pton(word->wd_text, word->wd_len, addr->ad_bytes, -1,
			&end) && end == word->wd_text + word->wd_len;
}

static bool rpcrdma_addr_parse6(struct rpcrdma_addr *addr,
				const struct rpcrdma_word *word)
{
	struct rpcrdma_word scope = *word, text;
	bool scoped = rpcrdma_word_cut(&scope, "%", &text);
	const char *end;

	addr->ad_family = RPCRDMA_ADDR_6;
	return in6_pton(text.wd_text, text.wd_len, addr->ad_bytes, -1, &end) &&
	       end == text.wd_text + text.wd_len &&
	       (!scoped || rpcrdma_addr_dev(addr, &scope));
}

/* Returns false for multicast, 255.255.255.255 and 0.0.0.0/8. */
static bool rpcrdma_addr_is_host4(const u8 *bytes)
{
	static const u8 broadcast[] = { 0xff, 0xff, 0xff, 0xff };

	return bytes[0] && (bytes[0] & 0xf0) != 0xe0 &&
	       memcmp(bytes, broadcast, sizeof(broadcast));
}

/* Returns false for multicast, for the unspecified address, and for a link-local address without
 * its interface.
 */
static bool rpcrdma_addr_is_host6(const struct rpcrdma_addr *addr)
{
	static const struct rpcrdma_addr unspecified;
	const u8 *bytes = addr->ad_bytes;

	if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)
		return addr->ad_dev[0];
	return bytes[0] != 0xff &&
	       memcmp(bytes, unspecified.ad_bytes, sizeof(addr->ad_bytes));
}

/* Reads an address into @addr, whose bytes are 0. If @dev is true, an interface is allowed, too. */
static int rpcrdma_addr_parse(struct rpcrdma_addr *addr,
			      const struct rpcrdma_word *word, bool dev)
{
	if (rpcrdma_addr_parse4(addr, word))
		return rpcrdma_addr_is_host4(addr->ad_bytes) ? 0 : -EINVAL;
	if (rpcrdma_addr_parse6(addr, word))
		return rpcrdma_addr_is_host6(addr) ? 0 : -EINVAL;
	memset(addr, 0, sizeof(*addr));
	return dev && rpcrdma_addr_dev(addr, word) ? 0 : -EINVAL;
}

/**
 * rpcrdma_addr_same - compare two addresses
 * @a: address
 * @b: address
 *
 * Context: any.
 * Return: true if they have the same family, address and scope.
 */
bool rpcrdma_addr_same(const struct rpcrdma_addr *a,
		       const struct rpcrdma_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_addr_same);

/* Reads a list into @list. If @list is not empty, the line has the same option twice, which is an
 * error. All addresses of a line must be of @family, because a transport has one netid on all its
 * paths: "rdma" for IPv4, or "rdma6" for IPv6. Interfaces have no family. For "default", @family is
 * %RPCRDMA_ADDR_NONE, so that every address is an error.
 */
static int rpcrdma_paths_list(struct rpcrdma_addr *list, u8 *count,
			      struct rpcrdma_word *rest, u8 family, bool dev)
{
	struct rpcrdma_word word;
	bool more;
	int rc;

	if (*count)
		return -EINVAL;
	do {
		more = rpcrdma_word_cut(rest, ",", &word);
		if (*count == RPCRDMA_PATHS_MAX)
			return -E2BIG;
		rc = rpcrdma_addr_parse(&list[*count], &word, dev);
		if (rc)
			return rc;
		if (list[*count].ad_family && list[*count].ad_family != family)
			return -EAFNOSUPPORT;
		++*count;
	} while (more);
	return 0;
}

/* Reads a number that is at most @max into *@value. If *@value is not -1 before, the line has the
 * same option twice, which is an error.
 */
static int rpcrdma_paths_number(int *value, const struct rpcrdma_word *word,
				int max)
{
	size_t i;

	if (*value >= 0 || !word->wd_len)
		return -EINVAL;
	*value = 0;
	for (i = 0; i < word->wd_len; i++) {
		if (word->wd_text[i] < '0' || word->wd_text[i] > '9')
			return -EINVAL;
		*value = 10 * *value + (word->wd_text[i] - '0');
		if (*value > max)
			return -ERANGE;
	}
	return 0;
}

static int rpcrdma_paths_option(struct rpcrdma_paths *paths,
				struct rpcrdma_word *rest)
{
	u8 family = paths->pw_to.ad_family;
	struct rpcrdma_word name;

	rpcrdma_word_cut(rest, "=", &name);
	if (rpcrdma_word_is(&name, "src"))
		return rpcrdma_paths_list(paths->pw_src, &paths->pw_nsrc, rest,
					  family, true);
	if (rpcrdma_word_is(&name, "dst"))
		return rpcrdma_paths_list(paths->pw_dst, &paths->pw_ndst, rest,
					  family, false);
	if (rpcrdma_word_is(&name, "tos"))
		return rpcrdma_paths_number(&paths->pw_tos, rest, 255);
	if (rpcrdma_word_is(&name, "ack_timeout"))
		return rpcrdma_paths_number(&paths->pw_ack_timeout, rest, 31);
	return -EINVAL;
}

/**
 * rpcrdma_paths_parse - read a line of the table of paths
 * @paths: OUT: the line; undefined after an error
 * @line: text, without the end of the line
 * @len: its length in bytes
 *
 * Context: any.
 * Return: 0; %-EAFNOSUPPORT if the line mixes IPv4 and IPv6, or if "default" has an address;
 *	%-E2BIG if a list is too long; %-ERANGE if a number is too large; %-EINVAL for any other
 *	mistake.
 */
int rpcrdma_paths_parse(struct rpcrdma_paths *paths, const char *line,
			size_t len)
{
	struct rpcrdma_word rest = { .wd_text = line, .wd_len = len }, word;
	bool begun = false;
	int rc;

	memset(paths, 0, sizeof(*paths));
	paths->pw_tos = -1;
	paths->pw_ack_timeout = -1;
	while (rest.wd_len) {
		rpcrdma_word_cut(&rest, " \t", &word);
		if (!word.wd_len)
			continue;
		if (begun)
			rc = rpcrdma_paths_option(paths, &word);
		else if (rpcrdma_word_is(&word, "default"))
			rc = 0;
		else
			rc = rpcrdma_addr_parse(&paths->pw_to, &word, false);
		if (rc)
			return rc;
		begun = true;
	}
	return begun ? 0 : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_paths_parse);

/* Returns the path at position @nth, counted from 0, of the order in which connection @number tries
 * its paths.
 */
static u32 rpcrdma_path_nth(u32 count, u32 number, u32 nth)
{
	u32 home = rpcrdma_path_home(count, number);

	if (!nth)
		return home;
	return (home + 1 + (number / count + nth - 1) % (count - 1)) % count;
}

/**
 * rpcrdma_path_choose - choose the path for an attempt to connect
 * @state: what the connection has seen of its paths
 * @count: number of paths, at least 1
 * @number: number of the connection among those to the same destination
 * @now: time in seconds
 *
 * Context: any.
 * Return: index of a path. Of the paths that need not be avoided, it is the first one in the
 *	order of this connection (rpcrdma_path_nth()). If all must be avoided, it is the one that
 *	may be used again the soonest.
 */
u32 rpcrdma_path_choose(const struct rpcrdma_path_state *state, u32 count,
			u32 number, u64 now)
{
	u32 best = rpcrdma_path_home(count, number);
	u32 nth, path;

	for (nth = 0; nth < count; nth++) {
		path = rpcrdma_path_nth(count, number, nth);
		if (state->ph_until[path] <= now)
			return path;
		if (state->ph_until[path] < state->ph_until[best])
			best = path;
	}
	return best;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_path_choose);

/**
 * rpcrdma_path_fail - note that a path has failed
 * @state: what the connection has seen of its paths
 * @path: index of the path
 * @now: time in seconds
 *
 * Context: any.
 */
void rpcrdma_path_fail(struct rpcrdma_path_state *state, u32 path, u64 now)
{
	state->ph_until[path] = now + RPCRDMA_PATH_REST;
}
EXPORT_SYMBOL_IF_KUNIT(rpcrdma_path_fail);
