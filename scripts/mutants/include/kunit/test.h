/* SPDX-License-Identifier: GPL-2.0 */
/* The parts of KUnit that the unit tests use. The first failure ends the program. */
#ifndef MUTANTS_KUNIT_TEST_H
#define MUTANTS_KUNIT_TEST_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/types.h>

#define round_up(n, to)		(((n) + (to) - 1) / (to) * (to))

#define GFP_KERNEL	0
#define KUNIT_PARAM_DESC_SIZE	128

struct kunit {
	void		*priv;
	const void	*param_value;
};

struct kunit_case {
	void		(*run_case)(struct kunit *test);
	const char	*name;
	const void	*(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char	*name;
	int		(*init)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn)			{ .run_case = fn, .name = #fn }
#define KUNIT_CASE_PARAM(fn, gen)	{ .run_case = fn, .name = #fn, .generate_params = gen }

/* Pointers to all suites are in one section, where kunit.c finds them. */
#define kunit_test_suite(suite)						\
	static struct kunit_suite *const suite##_entry			\
	__attribute__((used, section("kunit_suites"))) = &suite

#define KUNIT_ARRAY_PARAM_DESC(who, array, member)			\
	static const void *who##_gen_params(const void *prev, char *desc) \
	{								\
		__typeof__(&(array)[0]) next = prev;			\
									\
		next = next ? next + 1 : array;				\
		if (next >= (array) + ARRAY_SIZE(array))		\
			return NULL;					\
		strncpy(desc, next->member, KUNIT_PARAM_DESC_SIZE - 1);	\
		return next;						\
	}

/* What tests print is only for the kernel's log. */
#define kunit_info(test, ...)		((void)(test), (void)snprintf(NULL, 0, __VA_ARGS__))

void kunit_remember(void *memory);
void kunit_failed(const char *file, int line, const char *what);

static inline void *kunit_kmalloc(struct kunit *test, size_t len, int gfp)
{
	void *memory = malloc(len);

	(void)test;
	(void)gfp;
	kunit_remember(memory);
	return memory;
}

static inline void *kunit_kzalloc(struct kunit *test, size_t len, int gfp)
{
	return memset(kunit_kmalloc(test, len, gfp), 0, len);
}

#define KUNIT_CHECK_(test, ok, what)	do {				\
	(void)(test);							\
	if (!(ok))							\
		kunit_failed(__FILE__, __LINE__, what);			\
} while (0)

#define KUNIT_EXPECT_TRUE(test, a)	KUNIT_CHECK_(test, a, #a)
#define KUNIT_EXPECT_FALSE(test, a)	KUNIT_CHECK_(test, !(a), "!" #a)
#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_CHECK_(test, (a) == (b), #a " == " #b)
#define KUNIT_EXPECT_NE(test, a, b)	KUNIT_CHECK_(test, (a) != (b), #a " != " #b)
#define KUNIT_EXPECT_LT(test, a, b)	KUNIT_CHECK_(test, (a) < (b), #a " < " #b)
#define KUNIT_EXPECT_LE(test, a, b)	KUNIT_CHECK_(test, (a) <= (b), #a " <= " #b)
#define KUNIT_EXPECT_GT(test, a, b)	KUNIT_CHECK_(test, (a) > (b), #a " > " #b)
#define KUNIT_EXPECT_GE(test, a, b)	KUNIT_CHECK_(test, (a) >= (b), #a " >= " #b)
#define KUNIT_EXPECT_MEMEQ(test, a, b, n)	KUNIT_CHECK_(test, !memcmp(a, b, n), #a " is " #b)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	KUNIT_EXPECT_EQ(test, a, b)

#define KUNIT_ASSERT_TRUE		KUNIT_EXPECT_TRUE
#define KUNIT_ASSERT_EQ			KUNIT_EXPECT_EQ
#define KUNIT_ASSERT_LT			KUNIT_EXPECT_LT
#define KUNIT_ASSERT_LE			KUNIT_EXPECT_LE
#define KUNIT_ASSERT_GT			KUNIT_EXPECT_GT
#define KUNIT_ASSERT_GE			KUNIT_EXPECT_GE
#define KUNIT_ASSERT_MEMEQ		KUNIT_EXPECT_MEMEQ
#define KUNIT_ASSERT_NOT_NULL		KUNIT_EXPECT_TRUE
#define KUNIT_ASSERT_NOT_ERR_OR_NULL	KUNIT_EXPECT_TRUE

#endif
