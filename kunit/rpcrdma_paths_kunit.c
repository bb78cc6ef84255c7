// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of net/core/paths.c: reading a line of the table of paths (admin.rst, Several paths),
 * and choosing the path of a connection.
 */

#include <kunit/test.h>
#include <linux/errno.h>
#include <linux/string.h>

#include <rpcrdma/paths.h>

#include "rpcrdma_kunit.h"

static struct rpcrdma_paths *paths_of(struct kunit *test, const char *line)
{
	struct rpcrdma_paths *paths;
	char *copy;

	paths = kunit_kzalloc(test, sizeof(*paths), GFP_KERNEL);
	copy = kunit_kmalloc(test, strlen(line) + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, paths);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	memset(paths, 0xff, sizeof(*paths));
	memcpy(copy, line, strlen(line) + 1);
	KUNIT_ASSERT_EQ(test, rpcrdma_paths_parse(paths, copy), 0);
	return paths;
}

static bool paths_is4(const struct rpcrdma_addr *addr, u8 last)
{
	const struct rpcrdma_addr want = {
		.ad_family = RPCRDMA_ADDR_4, .ad_bytes = { 192, 0, 2, last },
	};

	return rpcrdma_addr_same(addr, &want);
}

static bool paths_is6(const struct rpcrdma_addr *addr, u8 last)
{
	const struct rpcrdma_addr want = {
		.ad_family = RPCRDMA_ADDR_6,
		.ad_bytes = { 0x20, 0x01, 0x0d, 0xb8, [15] = last },
	};

	return rpcrdma_addr_same(addr, &want);
}

static bool paths_dev_is(const struct rpcrdma_addr *addr, const char *name)
{
	return !strcmp(addr->ad_dev, name);
}

/* A line with every option. The order of the options, and additional blanks, do not matter. */
static void paths_all(struct kunit *test)
{
	static const char * const lines[] = {
		"192.0.2.1 src=192.0.2.8,eth1 dst=192.0.2.1,192.0.2.2,192.0.2.3 tos=104 ack_timeout=14",
		" \t192.0.2.1  ack_timeout=14\ttos=104 dst=192.0.2.1,192.0.2.2,192.0.2.3 src=192.0.2.8,eth1 ",
	};
	struct rpcrdma_paths *paths;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		paths = paths_of(test, lines[i]);
		KUNIT_EXPECT_TRUE(test, paths_is4(&paths->pw_to, 1));
		KUNIT_EXPECT_EQ(test, paths->pw_nsrc, 2);
		KUNIT_EXPECT_TRUE(test, paths_is4(&paths->pw_src[0], 8));
		KUNIT_EXPECT_EQ(test, paths->pw_src[1].ad_family, 0);
		KUNIT_EXPECT_TRUE(test,
				  paths_dev_is(&paths->pw_src[1], "eth1"));
		KUNIT_EXPECT_EQ(test, paths->pw_ndst, 3);
		KUNIT_EXPECT_TRUE(test, paths_is4(&paths->pw_dst[2], 3));
		KUNIT_EXPECT_EQ(test, paths->pw_tos, 104);
		KUNIT_EXPECT_EQ(test, paths->pw_ack_timeout, 14);
		KUNIT_EXPECT_EQ(test, rpcrdma_paths_count(paths), 3);
		KUNIT_EXPECT_FALSE(test, rpcrdma_paths_empty(paths));
		/* There are two sources, so path 2 has the first source again. */
		KUNIT_EXPECT_TRUE(test, rpcrdma_paths_src(paths, 2) ==
				  &paths->pw_src[0]);
		KUNIT_EXPECT_TRUE(test, rpcrdma_paths_dst(paths, 1) ==
				  &paths->pw_dst[1]);
	}
}

static void paths_ipv6(struct kunit *test)
{
	struct rpcrdma_paths *paths;

	paths = paths_of(test,
			 "2001:db8::1 src=2001:db8::2,fe80::3%ib0 dst=2001:db8::4");
	KUNIT_EXPECT_TRUE(test, paths_is6(&paths->pw_to, 1));
	KUNIT_EXPECT_TRUE(test, paths_is6(&paths->pw_src[0], 2));
	KUNIT_EXPECT_EQ(test, paths->pw_src[1].ad_family, RPCRDMA_ADDR_6);
	KUNIT_EXPECT_EQ(test, paths->pw_src[1].ad_bytes[0], 0xfe);
	KUNIT_EXPECT_EQ(test, paths->pw_src[1].ad_bytes[15], 3);
	KUNIT_EXPECT_TRUE(test, paths_dev_is(&paths->pw_src[1], "ib0"));
	KUNIT_EXPECT_TRUE(test, paths_is6(&paths->pw_dst[0], 4));
	KUNIT_EXPECT_EQ(test, rpcrdma_paths_count(paths), 2);
	KUNIT_EXPECT_EQ(test, paths->pw_tos, -1);
	KUNIT_EXPECT_EQ(test, paths->pw_ack_timeout, -1);
}

/* A line without options is empty. Such a line removes the line of its destination from the table
 * (client/paths.c).
 */
static void paths_none(struct kunit *test)
{
	static const char * const lines[] = {
		"192.0.2.1", "default", "fe80::1%x",
	};
	static const char * const full[] = {
		"192.0.2.1 src=eth0", "192.0.2.1 dst=192.0.2.1",
		"default tos=0", "default ack_timeout=0",
	};
	struct rpcrdma_paths *paths;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		paths = paths_of(test, lines[i]);
		KUNIT_EXPECT_TRUE(test, rpcrdma_paths_empty(paths));
		KUNIT_EXPECT_EQ(test, rpcrdma_paths_count(paths), 1);
		KUNIT_EXPECT_TRUE(test, !rpcrdma_paths_src(paths, 0));
		KUNIT_EXPECT_TRUE(test, !rpcrdma_paths_dst(paths, 0));
	}
	for (i = 0; i < ARRAY_SIZE(full); i++) {
		paths = paths_of(test, full[i]);
		KUNIT_EXPECT_FALSE(test, rpcrdma_paths_empty(paths));
	}
	paths = paths_of(test, "default src=A,z9");
	KUNIT_EXPECT_EQ(test, paths->pw_to.ad_family, RPCRDMA_ADDR_NONE);
	KUNIT_EXPECT_TRUE(test, paths_dev_is(&paths->pw_to, ""));
	KUNIT_EXPECT_TRUE(test, paths_dev_is(&paths->pw_src[0], "A"));
	KUNIT_EXPECT_TRUE(test, paths_dev_is(&paths->pw_src[1], "z9"));
}

struct paths_case {
	const char	*desc;
	const char	*line;
	int		status;
};

#define PATHS_FIFTEEN	"a,a,a,a,a,a,a,a,a,a,a,a,a,a,a"

static const struct paths_case paths_cases[] = {
	{ "nothing", "", -EINVAL },
	{ "blanks", " \t ", -EINVAL },
	{ "no address", "server tos=1", -EINVAL },
	{ "default with more", "defaults tos=1", -EINVAL },
	{ "half of default", "def tos=1", -EINVAL },
	{ "an option first", "tos=1 192.0.2.1", -EINVAL },
	{ "a port", "192.0.2.1:20049 tos=1", -EINVAL },
	{ "a number too many", "192.0.2.1.1 tos=1", -EINVAL },
	{ "a scope of IPv4", "192.0.2.1%eth0 tos=1", -EINVAL },
	{ "no scope", "fe80::1% tos=1", -EINVAL },
	{ "brackets", "[fe80::1] tos=1", -EINVAL },
	{ "an unknown option", "192.0.2.1 sl=1", -EINVAL },
	{ "an option without value", "192.0.2.1 tos", -EINVAL },
	{ "an option with an empty value", "192.0.2.1 tos=", -EINVAL },
	{ "an option twice", "192.0.2.1 tos=1 tos=1", -EINVAL },
	{ "an option twice, first 0", "192.0.2.1 tos=0 tos=1", -EINVAL },
	{ "another option twice", "192.0.2.1 src=eth0 src=eth0", -EINVAL },
	{ "a number with text", "192.0.2.1 tos=1a", -EINVAL },
	{ "a number with a sign", "192.0.2.1 tos=-1", -EINVAL },
	{ "another base", "192.0.2.1 tos=0x10", -EINVAL },
	{ "the byte before 0", "192.0.2.1 tos=/", -EINVAL },
	{ "the byte behind 9", "192.0.2.1 tos=:", -EINVAL },
	{ "the smallest numbers", "192.0.2.1 tos=0 ack_timeout=0", 0 },
	{ "the largest numbers", "192.0.2.1 tos=255 ack_timeout=31", 0 },
	{ "tos too large", "192.0.2.1 tos=256", -ERANGE },
	{ "tos far too large", "192.0.2.1 tos=99999999999", -ERANGE },
	{ "ack_timeout too large", "192.0.2.1 ack_timeout=32", -ERANGE },
	{ "an empty list", "192.0.2.1 src=", -EINVAL },
	{ "an empty source", "192.0.2.1 src=eth0,,eth1", -EINVAL },
	{ "a comma at the end", "192.0.2.1 src=eth0,", -EINVAL },
	{ "an interface as destination", "192.0.2.1 dst=eth0", -EINVAL },
	{ "16 sources", "192.0.2.1 src=" PATHS_FIFTEEN ",a", 0 },
	{ "17 sources", "192.0.2.1 src=" PATHS_FIFTEEN ",a,a", -E2BIG },
	{ "a long name", "192.0.2.1 src=abcdefghijklmno", 0 },
	{ "a name that is too long", "192.0.2.1 src=abcdefghijklmnop", -EINVAL },
	{ "a name that begins with a digit", "192.0.2.1 src=9e", 0 },
	{ "a name of digits and dots", "192.0.2.1 src=192.0.2.300", -EINVAL },
	{ "a name without a letter", "192.0.2.1 src=9_", 0 },
	{ "a name with a colon", "192.0.2.1 src=eth0:1", -EINVAL },
	{ "a name with a slash", "192.0.2.1 src=eth0/1", -EINVAL },
	{ "IPv6 from IPv4", "2001:db8::1 src=192.0.2.1", -EAFNOSUPPORT },
	{ "IPv4 and IPv6", "192.0.2.1 dst=192.0.2.1,2001:db8::1", -EAFNOSUPPORT },
	{ "default from an address", "default src=eth0,192.0.2.1", -EAFNOSUPPORT },
	{ "default to an address", "default dst=192.0.2.1", -EAFNOSUPPORT },
	{ "any destination", "192.0.2.1 dst=0.0.0.0", -EINVAL },
	{ "this network", "192.0.2.1 dst=0.0.0.1", -EINVAL },
	{ "any source", "192.0.2.1 src=0.0.0.0", -EINVAL },
	{ "any server", "0.0.0.0 tos=1", -EINVAL },
	{ "the address before multicast", "192.0.2.1 dst=223.0.0.1", 0 },
	{ "multicast", "192.0.2.1 dst=224.0.0.1", -EINVAL },
	{ "the last multicast", "192.0.2.1 dst=239.255.255.255", -EINVAL },
	{ "the address behind multicast", "192.0.2.1 dst=240.0.0.1", 0 },
	{ "nearly broadcast", "192.0.2.1 dst=255.255.255.254", 0 },
	{ "broadcast", "192.0.2.1 dst=255.255.255.255", -EINVAL },
	{ "any destination, IPv6", "2001:db8::1 dst=::", -EINVAL },
	{ "loopback, IPv6", "::1 tos=1", 0 },
	{ "multicast, IPv6", "2001:db8::1 dst=ff02::1", -EINVAL },
	{ "link-local", "2001:db8::1 src=fe80::1", -EINVAL },
	{ "the last link-local", "2001:db8::1 src=febf::1", -EINVAL },
	{ "behind link-local", "2001:db8::1 src=fec0::1", 0 },
	{ "like link-local", "2001:db8::1 src=fc80::1", 0 },
	{ "link-local with a scope", "2001:db8::1 src=fe80::1%eth0", 0 },
	{ "a link-local server", "fe80::1 tos=1", -EINVAL },
	{ "a link-local server with a scope", "fe80::1%eth0 tos=1", 0 },
};

KUNIT_ARRAY_PARAM_DESC(paths_text, paths_cases, desc);

/* The line is copied to a buffer of its own length, so KASAN detects a read beyond its end. */
static void paths_text(struct kunit *test)
{
	const struct paths_case *c = test->param_value;
	struct rpcrdma_paths *paths;
	char *line;

	paths = kunit_kzalloc(test, sizeof(*paths), GFP_KERNEL);
	line = kunit_kmalloc(test, strlen(c->line) + 1, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, paths);
	KUNIT_ASSERT_NOT_NULL(test, line);
	memcpy(line, c->line, strlen(c->line) + 1);

	KUNIT_EXPECT_EQ(test, rpcrdma_paths_parse(paths, line), c->status);
}

static void paths_same(struct kunit *test)
{
	struct rpcrdma_addr a = { .ad_family = RPCRDMA_ADDR_6 }, b = a;

	KUNIT_EXPECT_TRUE(test, rpcrdma_addr_same(&a, &b));
	b.ad_bytes[15] = 1;
	KUNIT_EXPECT_FALSE(test, rpcrdma_addr_same(&a, &b));
	b = a;
	b.ad_dev[0] = 'x';
	KUNIT_EXPECT_FALSE(test, rpcrdma_addr_same(&a, &b));
	b = a;
	b.ad_family = RPCRDMA_ADDR_4;
	KUNIT_EXPECT_FALSE(test, rpcrdma_addr_same(&a, &b));
}

/* As long as all paths work, connection K uses path K, modulo the number of paths. */
/* Covers: G-40 */
static void path_homes(struct kunit *test)
{
	struct rpcrdma_path_state state = { };
	u32 count, number;

	for (count = 1; count <= RPCRDMA_PATHS_MAX; count++)
		for (number = 0; number < 40; number++)
			KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, count,
								  number, 0),
					number % count);
}

/* The connections of a path that has failed are divided among the other paths. */
/* Covers: G-40 */
static void path_next(struct kunit *test)
{
	static const u32 want[][2] = {
		{ 0, 0 },
		{ 1, 2 },
		{ 2, 2 },
		{ 4, 0 },
		{ 5, 3 },
		{ 9, 0 },
		{ 13, 2 },
		{ 17, 3 },
	};
	struct rpcrdma_path_state state = { };
	u32 i;

	/* Only path 1 of four has failed. Later it works again, and only path 0 has failed. */
	rpcrdma_path_fail(&state, 1, 100);
	for (i = 0; i < ARRAY_SIZE(want); i++)
		KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 4, want[i][0],
							  101), want[i][1]);
	rpcrdma_path_good(&state, 1);
	rpcrdma_path_fail(&state, 0, 100);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 4, 4, 101), 2);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 4, 0, 101), 1);
}

/* A path that has failed is tried again after RPCRDMA_PATH_REST seconds. */
/* Covers: G-40 */
static void path_rests(struct kunit *test)
{
	struct rpcrdma_path_state state = { };

	rpcrdma_path_fail(&state, 1, 1000);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 2, 1, 1000), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 2, 1, 1059), 0);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 2, 1, 1060), 1);
	rpcrdma_path_fail(&state, 1, 2000);
	rpcrdma_path_good(&state, 1);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 2, 1, 2000), 1);
}

/* If all paths have failed in the last RPCRDMA_PATH_REST seconds, the path whose last failure is
 * the longest ago is tried.
 */
static void path_all_failed(struct kunit *test)
{
	struct rpcrdma_path_state state = { };

	rpcrdma_path_fail(&state, 0, 10);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 1, 7, 11), 0);
	rpcrdma_path_fail(&state, 2, 9);
	rpcrdma_path_fail(&state, 1, 8);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 3, 0, 11), 1);
	rpcrdma_path_fail(&state, 1, 11);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 3, 0, 11), 2);
	rpcrdma_path_fail(&state, 2, 11);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 3, 0, 11), 0);
	/* If all have failed at the same time, the connection's first path (rpcrdma_path_home()) is
	 * tried.
	 */
	rpcrdma_path_fail(&state, 0, 11);
	KUNIT_EXPECT_EQ(test, rpcrdma_path_choose(&state, 3, 2, 11), 2);
}

static struct kunit_case paths_kunit_cases[] = {
	KUNIT_CASE(paths_all),
	KUNIT_CASE(paths_ipv6),
	KUNIT_CASE(paths_none),
	KUNIT_CASE_PARAM(paths_text, paths_text_gen_params),
	KUNIT_CASE(paths_same),
	KUNIT_CASE(path_homes),
	KUNIT_CASE(path_next),
	KUNIT_CASE(path_rests),
	KUNIT_CASE(path_all_failed),
	{}
};

static struct kunit_suite rpcrdma_paths_suite = {
	.name = "rpcrdma_paths",
	.init = fx_init,
	.test_cases = paths_kunit_cases,
};

kunit_test_suite(rpcrdma_paths_suite);
