// SPDX-License-Identifier: GPL-2.0
/* Targets of the fuzzer (scripts/fuzz), which say what they check. Here each choice may have any value. SIZE is the
 * maximum number of choices of a run.
 */
#define PROOF_MOVED	u32
#define PROOF_MOVED_UP	false
#include "proof.h"

#include "../../fuzz/fuzz_chunk.c"
#include "../../fuzz/fuzz_numbers.c"

void fuzz_failed(const char *file, int line, const char *what)
{
	__CPROVER_assert(0, "a CHECK() of the target holds");
	ASSUME(0);
}

/* If there are data, their first byte is the first choice. */
u32 fuzz_u32(struct fuzz_in *in)
{
	u32 choice = in->fi_pos ? *in->fi_pos : nondet_u32();

	in->fi_pos = NULL;
	if (!in->fi_left)
		return 0;
	in->fi_left--;
	return choice;
}

u32 fuzz_num(struct fuzz_in *in)
{
	return fuzz_u32(in);
}

u8 fuzz_u8(struct fuzz_in *in)
{
	return (u8)fuzz_u32(in);
}

/* Makes a target choose numbers of any size. Otherwise it would count small numbers of bytes one by one. */
static const u8 any_length[1] = { 0 };

/*
 * 6 messages, taken and answered at any times
 *
 * bound: -DSIZE=12 --unwind 7
 * deep: -DSIZE=24 --unwind 13
 * mutant: s/u32 used = taken - need->nd_answered;/u32 used = taken + need->nd_answered;/
 */
void prove_need(void)
{
	fuzz_need(NULL, SIZE);
}

/*
 * 9 events between a responder that takes credits back, and a requester that uses all credits of which it knows
 *
 * bound: -DSIZE=18 --unwind 10
 * deep: -DSIZE=24 --unwind 13
 * mutant: s/<= 2 \* \(u64\)grant->gn_bound/< 1/
 */
void prove_grant(void)
{
	fuzz_grant(NULL, SIZE);
}

/*
 * Up to 2 results in 2 Write chunks
 *
 * bound: -DSIZE=10 -DLIMIT=2 --unwind 5 --unwindset fuzz_payload_assign.6:20
 * deep: -DSIZE=16 -DLIMIT=2 --unwind 5 --unwindset fuzz_payload_assign.6:20
 * mutant: s/if \(length > chunk->ck_length\)/if (0)/
 * mutant: s/next = min\(payloads\[i\].py_offset, stream_len\)/next = payloads[i].py_offset/
 */
void prove_payload(void)
{
	fuzz_payload(any_length, SIZE);
}
