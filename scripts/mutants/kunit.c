// SPDX-License-Identifier: GPL-2.0
/*
 * A program that runs all unit tests of net/wire and net/core, and prints the number of cases of
 * each suite. If a test fails, it prints the place, and the status is 1. The argument is the
 * number of the mutant to use, if run.py has inserted mutants.
 */
#include <kunit/test.h>

extern struct kunit_suite *const __start_kunit_suites[];
extern struct kunit_suite *const __stop_kunit_suites[];

int kunit_mutant = -1;

static void *kunit_memory[1 << 16];
static unsigned int kunit_nmemory;
static const char *kunit_running = "";

void kunit_remember(void *memory)
{
	if (!memory || kunit_nmemory == ARRAY_SIZE(kunit_memory))
		abort();
	kunit_memory[kunit_nmemory++] = memory;
}

void kunit_failed(const char *file, int line, const char *what)
{
	printf("%s: %s:%d: not so: %s\n", kunit_running, file, line, what);
	exit(1);
}

static void kunit_run(const struct kunit_suite *suite, const struct kunit_case *tc, const void *param)
{
	struct kunit test = { .param_value = param };

	kunit_running = tc->name;
	if (suite->init && suite->init(&test))
		kunit_failed(__FILE__, __LINE__, "init");
	tc->run_case(&test);
	while (kunit_nmemory)
		free(kunit_memory[--kunit_nmemory]);
}

int main(int argc, char **argv)
{
	struct kunit_suite *const *suite;
	const struct kunit_case *tc;
	char desc[KUNIT_PARAM_DESC_SIZE];
	const void *param;
	unsigned int n;

	if (argc > 1)
		kunit_mutant = atoi(argv[1]);
	for (suite = __start_kunit_suites; suite < __stop_kunit_suites; suite++) {
		n = 0;
		for (tc = (*suite)->test_cases; tc->run_case; tc++) {
			if (!tc->generate_params) {
				kunit_run(*suite, tc, NULL);
				n++;
				continue;
			}
			for (param = tc->generate_params(NULL, desc); param;
			     param = tc->generate_params(param, desc), n++)
				kunit_run(*suite, tc, param);
		}
		printf("%s: %u cases\n", (*suite)->name, n);
	}
	return 0;
}
