// SPDX-License-Identifier: GPL-2.0
/*
 * Client: Sends that gather: they read data directly from the pages of an RPC, so that the
 * data is not copied to the Sends' buffers.
 *
 * This file maps the pages of a placed item for the Sends of its group, and unmaps them (rtx.h
 * explains the terms). It never posts a Send, and never looks at a Reply.
 *
 * Operation
 *
 * If the data of a WRITE is placed, it is divided among transmissions of the group. In each of
 * these, the data follows the stream, at a fixed offset. The first SGE of a Send that gathers
 * describes the Send's own buffer, with header, stream and zeros. The other SGEs describe pages
 * with the data. Adjacent pages take one SGE. The plan says how many target segments (rtx.h) a
 * Send may fill in this way (pl_gathered). If pl_gathered is 0, the data is copied (group.c):
 * for example because gathering is off (rdma_rtx_gather), the data is short, the device allows
 * too few SGEs, or gathering would take more Sends than copying.
 *
 * The pages belong to the device from posting until the Sends have completed. The Reply does
 * not prove that the Sends have completed: an acknowledgment may have been lost, and the
 * device then reads and sends the pages again. By that time they could be unmapped, or contain
 * somebody else's data. If an RPC ends after a signal or a timeout, the server may not even
 * have received the Sends, and could get what the pages contain later. So an RPC is not
 * completed, sent again or released as long as one of its Sends may read its pages (invariant
 * I2). It is enough to wait for the last Send of the group: this Send is always signaled, and
 * the send queue completes in order.
 *
 * siw would be an exception. It hands the pages of an unsignaled Send of a page or more to
 * TCP, which may send them again even after a later Send has completed. But siw copies the
 * data of signaled and of shorter Sends. On siw, every Send of a page or more is signaled
 * (dc_unsignaled_max). So no Send hands the pages of an RPC to TCP.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>
#include <rpcrdma/param.h>

#include "trace.h"
#include "xprt_rdma.h"

static unsigned int xprt_rdma_rtx_gather = 32768;
rpcrdma_param_range(rdma_rtx_gather, xprt_rdma_rtx_gather, 0,
		    XPRT_RDMA_RTX_MAX);
MODULE_PARM_DESC(rdma_rtx_gather,
		 "Client: bytes of the smallest data item that Sends read where it is, 0: all are copied");

/* Maximum number of runs of adjacent pages in a Send that gathers: one for each target segment of a
 * Receive of this module's server (all pages but the first are targets), and one more for data that
 * begins inside a page
 */
#define XPRT_RDMA_PAGES_RUNS	RPCRDMA_RTX_PAGES_MAX

/**
 * struct xprt_rdma_pages - the pages that a Send reads
 * @pg_sges: SGEs of the Send; the first one is for its buffer
 * @pg_runs: runs of adjacent pages. They are mapped together: an IOMMU then has one range to
 *	map, and to flush when it is unmapped.
 * @pg_nruns: number of runs that are mapped
 */
struct xprt_rdma_pages {
	struct ib_sge		pg_sges[1 + XPRT_RDMA_PAGES_RUNS];
	struct scatterlist	pg_runs[XPRT_RDMA_PAGES_RUNS];
	int			pg_nruns;
};

/**
 * xprt_rdma_pages_begin - decide whether Sends of a new connection may read data directly from
 *	the pages of an RPC (may gather)
 * @xr: transport; the limits of the device are known
 *
 * Sets xr_gather and xr_sges. Each entry of the send queue takes memory for the maximum number
 * of SGEs. So this number is above 1 only if the parameter rdma_rtx_gather allows gathering.
 *
 * Context: process. Send lock held.
 * Return: number of SGEs for each Send.
 */
u32 xprt_rdma_pages_begin(struct xprt_rdma *xr)
{
	u32 sges = min(xr->xr_conn.cn_caps.dc_max_send_sge,
		       1 + XPRT_RDMA_PAGES_RUNS);

	xr->xr_gather = sges > 1 ? READ_ONCE(xprt_rdma_rtx_gather) : 0;
	xr->xr_sges = xr->xr_gather ? sges : 1;
	return xr->xr_sges;
}

/* Returns the length of the run of adjacent pages that begins at offset @pos of a page list.
 * That is the number of bytes up to the first page that is not adjacent in memory to the page
 * before it, and at most @len.
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

/* If the page list is divided into parts of @part bytes, does each part consist of at most
 * @most runs of adjacent pages?
 */
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
 * xprt_rdma_pages_segs - compute how many target segments a Send can fill from pages
 * @xr: transport with a live connection, send lock held
 * @snd: Call with the item in its page list
 *
 * The item is divided into parts, one for each Send. Each part but the last is as large as the
 * segments that a Send could fill if it had any number of SGEs. A run of adjacent pages takes one
 * SGE. If a Send has enough SGEs for each of these parts, the result is the number of segments in
 * such a large part. Otherwise the result is the number of segments for which the SGEs are enough
 * even if no pages are adjacent.
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
 * xprt_rdma_pages_alloc - allocate what a Send that gathers needs, if it has not got it
 * @send: Send that is not posted
 *
 * Context: process; may sleep. Send lock held.
 * Return: true if the Send can gather; false if there is no memory.
 */
bool xprt_rdma_pages_alloc(struct xprt_rdma_send *send)
{
	if (!send->sn_pages)
		send->sn_pages = kmalloc(sizeof(*send->sn_pages),
					 XPRT_RDMA_GFP);
	return send->sn_pages;
}

/**
 * xprt_rdma_pages_map - make a Send read a part of an item from the pages of the RPC
 * @send: Send for which xprt_rdma_pages_alloc() has returned true. Its buffer has everything that
 *	precedes the part in the transmission.
 * @snd: Call with the item in its page list
 * @pos: offset of the part in the item, in bytes
 * @len: number of bytes of the part
 *
 * Context: process. Send lock held.
 * Return: 0; %-ENOBUFS if the pages cannot be mapped; %-EIO if there are too few SGEs. After
 *	an error, xprt_rdma_send_put() for the first Send of the group unmaps what was mapped.
 */
int xprt_rdma_pages_map(struct xprt_rdma_send *send, const struct xdr_buf *snd,
			u32 pos, u32 len)
{
	struct xprt_rdma *xr = container_of(send->sn_send.sd_conn,
					    struct xprt_rdma, xr_conn);
	struct xprt_rdma_pages *pages = send->sn_pages;
	struct ib_send_wr *wr = &send->sn_send.sd_wr;
	struct scatterlist *sg;
	u32 at, run, n = 0;
	int nents, i;

	sg_init_table(pages->pg_runs, XPRT_RDMA_PAGES_RUNS);
	for (; len; pos += run, len -= run, n++) {
		if (n == xr->xr_sges - 1)
			return -EIO;
		run = xprt_rdma_pages_run(snd, pos, len);
		at = snd->page_base + pos;
		sg_set_page(&pages->pg_runs[n], snd->pages[at >> PAGE_SHIFT],
			    run, offset_in_page(at));
	}
	nents = ib_dma_map_sg(rpcrdma_conn_device(&xr->xr_conn),
			      pages->pg_runs, n, DMA_TO_DEVICE);
	if (!nents)
		return -ENOBUFS;
	pages->pg_nruns = n;
	pages->pg_sges[0] = send->sn_send.sd_sge;
	for_each_sg(pages->pg_runs, sg, nents, i) {
		pages->pg_sges[1 + i].addr = sg_dma_address(sg);
		pages->pg_sges[1 + i].length = sg_dma_len(sg);
		pages->pg_sges[1 + i].lkey = pages->pg_sges[0].lkey;
	}
	wr->sg_list = pages->pg_sges;
	wr->num_sge = 1 + nents;
	return 0;
}

/**
 * xprt_rdma_pages_unmap - unmap the pages that a Send reads, if there are any
 * @send: Send that was not posted, or that the device no longer uses
 *
 * Context: any. xr_lock held, or the Send is on no list, or the connection has no queues.
 */
void xprt_rdma_pages_unmap(struct xprt_rdma_send *send)
{
	struct xprt_rdma_pages *pages = send->sn_pages;
	struct ib_send_wr *wr = &send->sn_send.sd_wr;

	if (likely(wr->sg_list == &send->sn_send.sd_sge))
		return;
	ib_dma_unmap_sg(rpcrdma_conn_device(send->sn_send.sd_conn),
			pages->pg_runs, pages->pg_nruns, DMA_TO_DEVICE);
	wr->sg_list = &send->sn_send.sd_sge;
	wr->num_sge = 1;
}
