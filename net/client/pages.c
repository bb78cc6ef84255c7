// SPDX-License-Identifier: GPL-2.0
/*
 * Client: pages of an RPC that Sends read where they are, so that nothing is copied.
 *
 * This file maps the pages of a placed item for the Sends of its group, and unmaps them. It
 * decides when the RPC may continue. It never posts a Send, and never looks at a Reply.
 *
 * Operation
 *
 * In a group, the item of a WRITE lies behind the stream, from a fixed offset on. If the
 * device takes enough SGEs for a Send, the first one describes the Send's own buffer, with
 * header, stream and zeros. The others describe the pages of the item. Adjacent pages take
 * one SGE. The plan says how many segments a Send gathers (pl_gathered). If that is 0, the
 * item is copied (group.c): it is short, or would take more Sends if it were gathered.
 *
 * The pages then belong to the device until the Sends have completed. A Reply does not prove
 * that they have: an acknowledgment may have been lost, and the device then sends the pages
 * again. If they have other contents by then, the server may get these. Nor does the end of
 * the RPC, after a signal or a timeout. So an RPC is not completed, sent again or released
 * as long as one of its Sends has its pages (invariant I39). The last Send of the group
 * stands for all of them: it is always signaled, and the send queue completes in order.
 *
 * siw hands the pages of an unsignaled Send to TCP, which may send them again after the
 * completion of a later Send. It copies those of a signaled one. All Sends of a page or more
 * are signaled there (dc_unsignaled_max), so their completion is enough here, too.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/param.h>

#include "trace.h"
#include "xprt_rdma.h"

unsigned int xprt_rdma_rtx_gather;
rpcrdma_param_range(rdma_rtx_gather, xprt_rdma_rtx_gather, 0,
		    XPRT_RDMA_RTX_MAX);
MODULE_PARM_DESC(rdma_rtx_gather,
		 "Client: bytes of the smallest data item that Sends read where it is, 0: all are copied");

/* SGEs of a Send that gathers: its buffer, the segments of a Receive of a server like ours,
 * and one more for data that begin inside a page
 */
#define XPRT_RDMA_PAGES_SGES	(1 + (RPCRDMA_RTX_PAGES_MAX - 1) + 1)

/**
 * xprt_rdma_pages_begin - decide whether Sends of a new connection gather
 * @xr: transport; the limits of the device are known
 *
 * Sets xr_gather. Every entry of the send queue has room for all SGEs, so there is more than
 * one only if it is wanted.
 *
 * Context: process. Send lock held.
 * Return: number of SGEs for each Send.
 */
u32 xprt_rdma_pages_begin(struct xprt_rdma *xr)
{
	u32 sges = min(xr->xr_conn.cn_caps.dc_max_send_sge,
		       XPRT_RDMA_PAGES_SGES);

	xr->xr_gather = sges > 1 ? READ_ONCE(xprt_rdma_rtx_gather) : 0;
	xr->xr_sges = xr->xr_gather ? sges : 1;
	return xr->xr_sges;
}

/* Finds the adjacent pages that begin at offset @pos of a page list. Returns their bytes, up
 * to @len.
 */
static u32 xprt_rdma_pages_run(const struct xdr_buf *xdr, u32 pos, u32 len)
{
	u32 at = xdr->page_base + pos;
	struct page **page = &xdr->pages[at >> PAGE_SHIFT];
	u32 run = PAGE_SIZE - offset_in_page(at);

	for (; run < len; run += PAGE_SIZE, page++)
		if (page_to_pfn(page[1]) != page_to_pfn(page[0]) + 1)
			return run;
	return len;
}

/* Does each part of @part bytes have at most @most runs of adjacent pages? */
static bool xprt_rdma_pages_fit(const struct xdr_buf *xdr, u32 part, u32 most)
{
	u32 pos = 0, left = 0, runs = 0, run;

	while (pos < xdr->page_len) {
		if (!left) {
			left = min(part, xdr->page_len - pos);
			runs = 0;
		}
		run = xprt_rdma_pages_run(xdr, pos, left);
		if (++runs > most)
			return false;
		pos += run;
		left -= run;
	}
	return true;
}

/**
 * xprt_rdma_pages_segs - report how many segments of an item a Send can gather
 * @xr: transport with a live connection, send lock held
 * @snd: Call with the item in its page list
 *
 * If pages are adjacent, fewer SGEs suffice.
 *
 * Context: any.
 * Return: number of segments; 0 if the item has to be copied.
 */
u32 xprt_rdma_pages_segs(const struct xprt_rdma *xr, const struct xdr_buf *snd)
{
	const struct rpcrdma2_rtx *peer = &xr->xr_conn.cn_rtx;
	u32 most = xr->xr_sges - 1, part;

	if (!xr->xr_gather || snd->page_len < xr->xr_gather ||
	    !xprt_rdma_placing_send(xr))
		return 0;
	part = xprt_rdma_placing_send(xr) - peer->xp_head;
	if (xprt_rdma_pages_fit(snd, part, most))
		return part / peer->xp_seg;
	return rpcrdma_layout_gather(most, snd->page_base, PAGE_SIZE,
				     peer->xp_seg);
}

/**
 * xprt_rdma_pages_alloc - provide the SGEs of a Send that gathers
 * @send: Send that is not posted
 *
 * Context: process; may sleep. Send lock held.
 * Return: 0 or %-ENOBUFS.
 */
int xprt_rdma_pages_alloc(struct xprt_rdma_send *send)
{
	if (!send->sn_sges)
		send->sn_sges = kmalloc_array(XPRT_RDMA_PAGES_SGES,
					      sizeof(*send->sn_sges),
					      XPRT_RDMA_GFP);
	return send->sn_sges ? 0 : -ENOBUFS;
}

/* Maps adjacent pages as the next SGE of a Send. */
static int xprt_rdma_pages_map_run(struct xprt_rdma_send *send,
				   const struct xdr_buf *snd, u32 pos, u32 run)
{
	struct ib_device *device = rpcrdma_conn_device(send->sn_send.sd_conn);
	struct ib_send_wr *wr = &send->sn_send.sd_wr;
	struct ib_sge *sge = &send->sn_sges[wr->num_sge];
	u32 at = snd->page_base + pos;

	sge->addr = ib_dma_map_page(device, snd->pages[at >> PAGE_SHIFT],
				    offset_in_page(at), run, DMA_TO_DEVICE);
	if (ib_dma_mapping_error(device, sge->addr))
		return -ENOBUFS;
	sge->length = run;
	sge->lkey = send->sn_send.sd_sge.lkey;
	wr->num_sge++;
	return 0;
}

/**
 * xprt_rdma_pages_map - have a Send read a part of an item where it is
 * @send: Send whose SGEs were provided; its buffer is what comes in front of the part
 * @snd: Call with the item in its page list
 * @pos: offset of the part in the item, in bytes
 * @len: number of bytes of the part
 *
 * Context: process. Send lock held.
 * Return: 0; %-ENOBUFS if the pages cannot be mapped; %-EIO if there are too few SGEs. After
 *	an error the caller gives back the Send, which unmaps what was mapped.
 */
int xprt_rdma_pages_map(struct xprt_rdma_send *send, const struct xdr_buf *snd,
			u32 pos, u32 len)
{
	struct xprt_rdma *xr = container_of(send->sn_send.sd_conn,
					    struct xprt_rdma, xr_conn);
	struct ib_send_wr *wr = &send->sn_send.sd_wr;
	u32 run;
	int rc;

	send->sn_sges[0] = send->sn_send.sd_sge;
	wr->sg_list = send->sn_sges;
	for (; len; pos += run, len -= run) {
		if (wr->num_sge == xr->xr_sges)
			return -EIO;
		run = xprt_rdma_pages_run(snd, pos, len);
		rc = xprt_rdma_pages_map_run(send, snd, pos, run);
		if (rc)
			return rc;
	}
	return 0;
}

/**
 * xprt_rdma_pages_unmap - end a Send's use of pages, if it uses any
 * @send: Send that was not posted, or that the device no longer uses
 *
 * Context: any. xr_send_lock held, or the Send is on no list.
 */
void xprt_rdma_pages_unmap(struct xprt_rdma_send *send)
{
	struct ib_device *device;
	struct ib_send_wr *wr = &send->sn_send.sd_wr;
	struct ib_sge *sge;

	if (likely(wr->sg_list == &send->sn_send.sd_sge))
		return;
	device = rpcrdma_conn_device(send->sn_send.sd_conn);
	while (wr->num_sge > 1) {
		sge = &send->sn_sges[--wr->num_sge];
		ib_dma_unmap_page(device, sge->addr, sge->length,
				  DMA_TO_DEVICE);
	}
	wr->sg_list = &send->sn_send.sd_sge;
}

/**
 * xprt_rdma_pages_done - let an RPC continue whose pages the device no longer uses
 * @xr: transport
 * @req: RPC; the Sends of its group are unmapped
 * @completed: true if the Sends have completed; false if their connection has ended
 *
 * Context: completion; or process, when the connection no longer has queues.
 */
void xprt_rdma_pages_done(struct xprt_rdma *xr, struct xprt_rdma_req *req,
			  bool completed)
{
	switch (atomic_xchg(&req->rr_pages, XPRT_RDMA_PAGES_OURS)) {
	case XPRT_RDMA_PAGES_REPLIED:
		req->rr_continue(xr, req, completed);
		break;
	case XPRT_RDMA_PAGES_ABANDONED:
		complete(&req->rr_fenced);
		break;
	}
}

/**
 * xprt_rdma_pages_fence - wait until the device no longer uses an abandoned RPC's pages
 * @req: RPC that ends without a Reply, after a signal or a timeout
 *
 * If the connection is lost in the meantime, this waits until it is closed. Closing never
 * waits for an RPC, so this wait ends.
 *
 * Context: process; sleeps. The caller does not hold the send lock.
 */
void xprt_rdma_pages_fence(struct xprt_rdma_req *req)
{
	reinit_completion(&req->rr_fenced);
	if (atomic_cmpxchg(&req->rr_pages, XPRT_RDMA_PAGES_SENT,
			   XPRT_RDMA_PAGES_ABANDONED) == XPRT_RDMA_PAGES_SENT)
		wait_for_completion(&req->rr_fenced);
}

/* Unmaps the pages of all Sends, posted or parked. */
static void xprt_rdma_pages_unmap_all(struct xprt_rdma *xr)
{
	u32 i;

	spin_lock(&xr->xr_send_lock);
	for (i = 0; i < xr->xr_nsends; i++)
		xprt_rdma_pages_unmap(&xr->xr_sends[i]);
	spin_unlock(&xr->xr_send_lock);
}

/**
 * xprt_rdma_pages_end - end the use of pages by a connection
 * @xr: transport whose connection no longer has queues
 *
 * All pages are unmapped before the first RPC continues, because one RPC may be in several
 * Sends.
 *
 * Context: process; sleeps. Send lock held.
 */
void xprt_rdma_pages_end(struct xprt_rdma *xr)
{
	struct xprt_rdma_req *req;
	u32 i;

	xprt_rdma_pages_unmap_all(xr);
	for (i = 0; i < xr->xr_nsends; i++) {
		spin_lock(&xr->xr_send_lock);
		req = xr->xr_sends[i].sn_gathers;
		xr->xr_sends[i].sn_gathers = NULL;
		spin_unlock(&xr->xr_send_lock);
		if (req)
			xprt_rdma_pages_done(xr, req, false);
	}
}
