// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of svc_rdma_enter() and net/server/close.c: closing a connection waits for the tasks
 * that are inside this connection, and for no others. In guests, no task stays inside for long.
 */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/workqueue.h>
#include "../net/server/svc_rdma.h"

struct svc_rdma_inside_fixture {
	struct svc_rdma_xprt	ix_sx;
	struct work_struct	ix_work;
	struct completion	ix_ended;
};

static void svc_rdma_inside_kunit_work(struct work_struct *work)
{
	struct svc_rdma_inside_fixture *fx =
		container_of(work, struct svc_rdma_inside_fixture, ix_work);

	svc_rdma_end_inside(&fx->ix_sx);
	complete(&fx->ix_ended);
}

static void svc_rdma_inside_kunit_exit(void *fx)
{
	flush_work(&((struct svc_rdma_inside_fixture *)fx)->ix_work);
	percpu_ref_exit(&((struct svc_rdma_inside_fixture
			   *)fx)->ix_sx.sx_inside);
}

static struct svc_rdma_inside_fixture *svc_rdma_inside_make(struct kunit *test)
{
	struct svc_rdma_inside_fixture *fx;

	fx = kunit_kzalloc(test, sizeof(*fx), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fx);
	KUNIT_ASSERT_EQ(test, svc_rdma_close_init_xprt(&fx->ix_sx), 0);
	INIT_WORK(&fx->ix_work, svc_rdma_inside_kunit_work);
	init_completion(&fx->ix_ended);
	KUNIT_ASSERT_EQ(test,
			kunit_add_action_or_reset(test,
						  svc_rdma_inside_kunit_exit,
						  fx), 0);
	return fx;
}

/* Begin to close a connection, and return whether that ends within half a second. */
static bool svc_rdma_inside_kunit_ends(struct svc_rdma_inside_fixture *fx)
{
	queue_work(system_unbound_wq, &fx->ix_work);
	return wait_for_completion_timeout(&fx->ix_ended, HZ / 2);
}

/* A task that is stuck in one connection holds up the end of this one, but not of another. */
static void svc_rdma_inside_waits_for_its_own(struct kunit *test)
{
	struct svc_rdma_inside_fixture *one = svc_rdma_inside_make(test);
	struct svc_rdma_inside_fixture *other = svc_rdma_inside_make(test);

	KUNIT_ASSERT_PTR_EQ(test, svc_rdma_enter(&one->ix_sx), &one->ix_sx);
	KUNIT_EXPECT_TRUE(test, svc_rdma_inside_kunit_ends(other));
	KUNIT_EXPECT_FALSE(test, svc_rdma_inside_kunit_ends(one));
	svc_rdma_leave(&one->ix_sx);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&one->ix_ended,
							  10 * HZ), 0);
}

/* Nobody enters a connection that is being closed, even while another task is still inside. */
static void svc_rdma_inside_refuses(struct kunit *test)
{
	struct svc_rdma_inside_fixture *fx = svc_rdma_inside_make(test);

	{
		CLASS(svc_rdma_inside, inside)(&fx->ix_sx);

		KUNIT_EXPECT_PTR_EQ(test, inside, &fx->ix_sx);
		KUNIT_EXPECT_FALSE(test, svc_rdma_inside_kunit_ends(fx));
		KUNIT_EXPECT_NULL(test, svc_rdma_enter(&fx->ix_sx));
	}
	KUNIT_EXPECT_NE(test,
			wait_for_completion_timeout(&fx->ix_ended, 10 * HZ), 0);
	KUNIT_EXPECT_NULL(test, svc_rdma_enter(&fx->ix_sx));
}

static struct kunit_case svc_rdma_inside_cases[] = {
	KUNIT_CASE(svc_rdma_inside_waits_for_its_own),
	KUNIT_CASE(svc_rdma_inside_refuses),
	{}
};

static struct kunit_suite svc_rdma_inside_suite = {
	.name = "svc_rdma_inside",
	.test_cases = svc_rdma_inside_cases,
};

kunit_test_suite(svc_rdma_inside_suite);
