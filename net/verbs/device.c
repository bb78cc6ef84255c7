// SPDX-License-Identifier: GPL-2.0
/*
 * The device room: translates an ib_device's attributes into the plain numbers
 * that core/size.c works with. Knowledge about particular devices and
 * fabrics belongs here and nowhere else.
 */
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>
#include <rpcrdma/device.h>

/* When siw accepts, it answers the peer first and takes the socket over
 * afterwards. A message that arrives in between wakes nobody: it is received
 * only when a second one follows, which, with one credit, never does. Whoever
 * connects leaves the other end the time to get there.
 */
#define RPCRDMA_SIW_SETTLE_MSECS	100

/* siw hands TCP the pages of an RDMA Write that is not signaled, SGE by SGE, and
 * copies one that is. For a few pages, copying is the cheaper way, and by more
 * than a completion costs. A Write that is longer than its 6 SGEs of a page has
 * pages that are adjacent, and is handed over in larger pieces.
 */
#define RPCRDMA_SIW_SIGNAL_MAX		(6 * 4096)

/* siw also hands TCP the pages of a Send that is not signaled and has a page or
 * more. TCP may still read them, or send them again, when a later Send completes,
 * and that is all there is to say that this one is done.
 */
#define RPCRDMA_SIW_UNSIGNALED_MAX	(PAGE_SIZE - 1)

/* For tests: connections made from now on find a device whose memory regions have
 * no more pages, and whose queues no more work requests, than that (0: as many as
 * it says).
 */
u32 rpcrdma_device_max_mr_pages;
u32 rpcrdma_device_max_qp_wr;

static u32 rpcrdma_device_at_most(u32 has, u32 wanted)
{
	return wanted ? min(has, wanted) : has;
}

/**
 * rpcrdma_device_query - read what a device can do
 * @device: device an address resolved to, or a connection arrived on
 * @port: its port
 * @caps: filled in
 *
 * RDMA Read is the odd one out on iWARP: its sink is named by one steering
 * tag, so a Read has one SGE there whatever the device says about Sends, and
 * the core registers what it reads into. It also does so for large Reads where
 * the device says that this is faster.
 *
 * Context: any.
 */
void rpcrdma_device_query(struct ib_device *device, u32 port,
			  struct rpcrdma_device_caps *caps)
{
	const struct ib_device_attr *attrs = &device->attrs;

	memset(caps, 0, sizeof(*caps));
	caps->dc_max_qp_wr =
		rpcrdma_device_at_most(attrs->max_qp_wr,
				       READ_ONCE(rpcrdma_device_max_qp_wr));
	caps->dc_max_cqe = attrs->max_cqe;
	caps->dc_max_send_sge = attrs->max_send_sge;
	caps->dc_max_sge_rd = attrs->max_sge_rd;
	caps->dc_max_mr_pages =
		rpcrdma_device_at_most(attrs->max_fast_reg_page_list_len,
				       READ_ONCE(rpcrdma_device_max_mr_pages));
	caps->dc_max_mr = attrs->max_mr;
	caps->dc_max_rd_atom = attrs->max_qp_init_rd_atom;
	caps->dc_max_init_rd_atom = attrs->max_qp_rd_atom;
	caps->dc_frwr = attrs->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS;
	caps->dc_sg_gaps = attrs->kernel_cap_flags & IBK_SG_GAPS_REG;
	caps->dc_iwarp = rdma_protocol_iwarp(device, port);
	if (caps->dc_iwarp)
		caps->dc_max_sge_rd = 1;
	caps->dc_read_mrs = caps->dc_iwarp || attrs->max_sgl_rd;
	caps->dc_unsignaled_max = U32_MAX;
	if (device->ops.driver_id == RDMA_DRIVER_SIW) {
		caps->dc_settle = RPCRDMA_SIW_SETTLE_MSECS;
		caps->dc_signal_max = RPCRDMA_SIW_SIGNAL_MAX;
		caps->dc_unsignaled_max = RPCRDMA_SIW_UNSIGNALED_MAX;
	}
}
