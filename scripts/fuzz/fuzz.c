// SPDX-License-Identifier: GPL-2.0
/*
 * The table of fuzz targets, which test net/wire and net/core with libFuzzer, and functions
 * that the targets share.
 *
 * The environment variable FUZZ_TARGET names the target that gets the inputs. Without it,
 * the program lists the targets. For a new target, add a function, its declaration in fuzz.h, and
 * a line in the table. make fuzz MERGE=y then writes its file in scripts/fuzz/corpus.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static const struct {
	const char	*name;
	fuzz_target	*run;
} fuzz_targets[] = {
	{ "v1-call",	fuzz_v1_call },
	{ "v1-reply",	fuzz_v1_reply },
	{ "v1-trip",	fuzz_v1_trip },
	{ "v1-error",	fuzz_v1_error },
	{ "v2-server",	fuzz_v2_server },
	{ "v2-client",	fuzz_v2_client },
	{ "v2-trip",	fuzz_v2_trip },
	{ "v2-ctl",	fuzz_v2_ctl },
	{ "v2-negotiate",	fuzz_v2_negotiate },
	{ "v2-retry",	fuzz_v2_retry },
	{ "rtx-msg",	fuzz_rtx_msg },
	{ "rtx-group",	fuzz_rtx_group },
	{ "rtx-layout",	fuzz_rtx_layout },
	{ "chunk",	fuzz_chunk },
	{ "items",	fuzz_items },
	{ "head",	fuzz_head },
	{ "payload",	fuzz_payload },
	{ "props",	fuzz_props },
	{ "credit",	fuzz_credit },
	{ "plan",	fuzz_plan },
	{ "size",	fuzz_size },
	{ "grant",	fuzz_grant },
	{ "need",	fuzz_need },
	{ "paths",	fuzz_paths },
	{ "path",	fuzz_path },
};

#define FUZZ_NTARGETS	(sizeof(fuzz_targets) / sizeof(fuzz_targets[0]))

static fuzz_target *fuzz_run;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");
	size_t i;

	(void)argc;
	(void)argv;
	for (i = 0; i < FUZZ_NTARGETS; i++) {
		if (!name)
			puts(fuzz_targets[i].name);
		else if (!strcmp(name, fuzz_targets[i].name))
			fuzz_run = fuzz_targets[i].run;
	}
	if (fuzz_run)
		return 0;
	if (name)
		fprintf(stderr, "there is no target %s\n", name);
	exit(name ? 2 : 0);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	fuzz_run(data, size);
	return 0;
}

void fuzz_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	abort();
}

u8 fuzz_u8(struct fuzz_in *in)
{
	if (!in->fi_left)
		return 0;
	in->fi_left--;
	return *in->fi_pos++;
}

u32 fuzz_u32(struct fuzz_in *in)
{
	u32 i, value = 0;

	for (i = 0; i < 4; i++)
		value = value << 8 | fuzz_u8(in);
	return value;
}

u32 fuzz_num(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);
	u32 value = kind % 32 < 24 ? fuzz_u8(in) : fuzz_u32(in);

	/* Mostly one byte, shifted by 0, 8 or 16 bits; otherwise the whole word is read. */
	if (kind % 32 < 24)
		value <<= kind % 32 / 8 * 8;
	return kind < 128 ? value : ~value;
}

struct fuzz_in fuzz_choices(const u8 *data, size_t *size)
{
	struct fuzz_in in = { .fi_pos = data, .fi_left = 0 };

	if (*size >= FUZZ_CHOICES) {
		*size -= FUZZ_CHOICES;
		in.fi_pos += *size;
		in.fi_left = FUZZ_CHOICES;
	}
	return in;
}

void *fuzz_exact(const void *data, size_t size)
{
	void *copy = malloc(size);

	CHECK(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}
