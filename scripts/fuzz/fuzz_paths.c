// SPDX-License-Identifier: GPL-2.0
/* The table of paths: lines of text, and the choice of a path */

#include <linux/errno.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rpcrdma/paths.h>

#include "fuzz.h"

static void fuzz_paths_addr(const struct rpcrdma_addr *addr, u8 family,
			    bool dev)
{
	u32 i, len = strnlen(addr->ad_dev, sizeof(addr->ad_dev));

	CHECK(len < sizeof(addr->ad_dev));
	for (i = len; i < sizeof(addr->ad_dev); i++)
		CHECK(!addr->ad_dev[i]);
	CHECK(addr->ad_family == family || (dev && !addr->ad_family && len));
	CHECK(!len || addr->ad_family != RPCRDMA_ADDR_4);
	for (i = addr->ad_family == RPCRDMA_ADDR_4 ? 4 : 0;
	     addr->ad_family != RPCRDMA_ADDR_6 && i < 16; i++)
		CHECK(!addr->ad_bytes[i]);
}

/* Target paths: any text as a line. With a blank before and behind it, a line means the same. */
void fuzz_paths(const u8 *data, size_t size)
{
	size_t len = strnlen((const char *)data, size);
	struct rpcrdma_paths paths, again;
	char *wide = malloc(len + 3);
	char *line = malloc(len + 1);
	u32 i;
	int rc;

	memcpy(line, data, len);
	line[len] = '\0';
	sprintf(wide, " %s\t", line);
	rc = rpcrdma_paths_parse(&paths, line);
	CHECK(!rc || rc == -EINVAL || rc == -E2BIG || rc == -ERANGE ||
	      rc == -EAFNOSUPPORT);
	CHECK(rpcrdma_paths_parse(&again, wide) == rc);
	free(wide);
	free(line);
	if (rc)
		return;
	CHECK(!memcmp(&paths, &again, sizeof(paths)));
	CHECK(paths.pw_tos >= -1 && paths.pw_tos <= 255);
	CHECK(paths.pw_ack_timeout >= -1 && paths.pw_ack_timeout <= 31);
	CHECK(paths.pw_nsrc <= RPCRDMA_PATHS_MAX);
	CHECK(paths.pw_ndst <= RPCRDMA_PATHS_MAX);
	CHECK(paths.pw_to.ad_family || !paths.pw_ndst);
	fuzz_paths_addr(&paths.pw_to, paths.pw_to.ad_family, false);
	for (i = 0; i < paths.pw_nsrc; i++)
		fuzz_paths_addr(&paths.pw_src[i], paths.pw_to.ad_family, true);
	for (i = 0; i < paths.pw_ndst; i++)
		fuzz_paths_addr(&paths.pw_dst[i], paths.pw_to.ad_family, false);
	for (i = 0; i < rpcrdma_paths_count(&paths); i++) {
		CHECK(!rpcrdma_paths_src(&paths, i) == !paths.pw_nsrc);
		CHECK(!rpcrdma_paths_dst(&paths, i) == !paths.pw_ndst);
	}
}

/* Target path: a connection whose paths fail and work in any order. It uses its first path
 * (rpcrdma_path_home()) unless this path is avoided after a failure. While one attempt after the
 * other fails, the connection tries all paths before it tries one of them again.
 */
void fuzz_path(const u8 *data, size_t size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = size };
	u32 count = 1 + fuzz_u8(&in) % RPCRDMA_PATHS_MAX;
	struct rpcrdma_path_state state = { };
	u32 i, path, number = fuzz_num(&in);
	u64 now = fuzz_num(&in);
	u32 tried = 0;

	while (in.fi_left) {
		now += fuzz_u8(&in) % 32;
		path = rpcrdma_path_choose(&state, count, number, now);
		CHECK(path < count);
		if (state.ph_until[rpcrdma_path_home(count, number)] <= now)
			CHECK(path == rpcrdma_path_home(count, number));
		for (i = 0; i < count && state.ph_until[path] > now; i++)
			CHECK(state.ph_until[i] >= state.ph_until[path]);
		if (fuzz_u8(&in) % 2)
			rpcrdma_path_good(&state, path);
		else
			rpcrdma_path_fail(&state, path, now);
	}
	now += RPCRDMA_PATH_REST;
	for (i = 0; i < count; i++) {
		path = rpcrdma_path_choose(&state, count, number, now);
		CHECK(!(tried & 1u << path));
		tried |= 1u << path;
		rpcrdma_path_fail(&state, path, now);
	}
}
