// SPDX-License-Identifier: GPL-2.0
/*
 * tsc - print the frequency of this machine's time-stamp counter, in kHz
 *
 * The emulator passes the counter on to its guests. A guest measures the frequency when it boots. If the host
 * stops the emulator during this measurement, the result is wrong: the clock of one guest was 13 times too fast.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct sample {
	int64_t ns;
	uint64_t ticks;
};

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Reads both clocks at the same time, as far as possible: this program may be interrupted in between. */
static struct sample sample(void)
{
	struct sample best = { 0 };
	int64_t least = INT64_MAX;

	for (int i = 0; i < 1000; i++) {
		int64_t before = now();
		uint64_t ticks = __rdtsc();
		int64_t after = now();

		if (after - before >= least)
			continue;
		least = after - before;
		best = (struct sample) { before + least / 2, ticks };
	}
	return best;
}

int main(void)
{
	struct sample a = sample(), b;

	nanosleep(&(struct timespec) { .tv_nsec = 300000000 }, NULL);
	b = sample();
	printf("%.0f\n", (b.ticks - a.ticks) * 1e6 / (b.ns - a.ns));
	return 0;
}
