// SPDX-License-Identifier: GPL-2.0
/*
 * Client: memory regions. Pages are mapped and registered for one RPC.
 *
 * This file owns the regions of a connection, and their DMA mappings. It never posts a
 * work request, and never ends the server's access to a region: see complete.c.
 *
 * Operation
 *
 * A new connection has the regions that one RPC with the largest payload takes. When an RPC
 * needs a region and none is free, another one is allocated. Regions are freed only with the
 * connection. xprt_rdma_frwr_map() moves regions from the pool (xr_mr_free) to the RPC, maps
 * pages, and fills in the chunk that is offered to the server. xprt_rdma_send_post() puts the
 * registrations in front of the Send, so that one chain of work requests, with one doorbell,
 * is enough.
 *
 * Two send queue entries are reserved for each region when the RPC is sent. The entry for
 * its registration is released together with that of the Send (send.c), and the entry for its
 * invalidation when the region returns to the pool.
 *
 * Only the item (the data) of a READ or a WRITE can have foreign pages, which the CPU must not
 * access (plan.h), because NFS takes all other pages from the page allocator. If a plan lets the
 * CPU access the pages of an item, marshal.c calls xprt_rdma_frwr_is_foreign(), and plans the Call
 * again if there are foreign pages. If the plan has a chunk for the item alone, marshal.c need not
 * look at the pages. There are two kinds: pages for the memory of GPUs (foreign.c), and P2PDMA
 * pages (PCI peer-to-peer memory). These are mapped by the DMA API, like ordinary pages, if the
 * device can access them (dc_p2pdma). Up to Linux 7.3, NFS does not accept such pages in user
 * memory for direct I/O. So they can only come from code in the kernel that reads or writes NFS
 * files.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/memremap.h>
#include <linux/slab.h>
#include <linux/sched/mm.h>

#include "nvfs.h"
#include "trace.h"
#include "xprt_rdma.h"

/**
 * struct xprt_rdma_pieces - a walk over an xdr_buf, page by page
 * @ps_xdr: the buffer
 * @ps_stage: part of the xdr_buf in which the walk is: 0 head, 1 pages, 2 tail. The walk has
 *	ended when this is larger than @ps_last.
 * @ps_last: last part to visit
 * @ps_off: number of bytes already visited in this part
 */
struct xprt_rdma_pieces {
	const struct xdr_buf	*ps_xdr;
	int			ps_stage;
	int			ps_last;
	unsigned int		ps_off;
};

/* Sets @sg to the next bytes of the walk that are within one page. The walk does not advance
 * over them. Returns false at the end of the walk.
 */
static bool xprt_rdma_pieces_peek(struct xprt_rdma_pieces *w,
				  struct scatterlist *sg)
{
	const struct xdr_buf *xdr = w->ps_xdr;
	const struct kvec *vec;
	struct page *page;
	unsigned int len, off;

	for (; w->ps_stage <= w->ps_last; w->ps_stage++, w->ps_off = 0) {
		vec = w->ps_stage == 0 ? &xdr->head[0] : &xdr->tail[0];
		len = w->ps_stage == 1 ? xdr->page_len : vec->iov_len;
		len -= w->ps_off;
		if (!len)
			continue;
		if (w->ps_stage == 1) {
			off = xdr->page_base + w->ps_off;
			page = xdr->pages[off >> PAGE_SHIFT];
			off = offset_in_page(off);
		} else {
			page = virt_to_page(vec->iov_base + w->ps_off);
			off = offset_in_page(vec->iov_base + w->ps_off);
		}
		len = min_t(unsigned int, len, PAGE_SIZE - off);
		sg_set_page(sg, page, len, off);
		return true;
	}
	return false;
}

/* Handles the completion of an unsignaled registration or invalidation. Normally such a work
 * request has a completion only if it failed or was flushed. The connection then fails.
 */
static void xprt_rdma_frwr_wc_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct xprt_rdma_mr *mr = container_of(wc->wr_cqe, struct xprt_rdma_mr,
					       mr_cqe);

	if (likely(wc->status == IB_WC_SUCCESS))
		return;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		trace_xprt_rdma_mr_err(mr->mr_xprt, &mr->mr_cid, wc);
	rpcrdma_conn_fail(&mr->mr_xprt->xr_conn, -ECONNRESET);
}

static void xprt_rdma_frwr_mr_destroy(struct xprt_rdma_mr *mr)
{
	if (mr->mr_ib)
		ib_dereg_mr(mr->mr_ib);
	sg_free_table(&mr->mr_pages);
	kfree(mr);
}

/* Creates a region and adds it to @list. The caller holds the send lock, so no other
 * task adds regions.
 */
static struct xprt_rdma_mr *xprt_rdma_frwr_mr_add(struct xprt_rdma *xr,
						  struct list_head *list,
						  gfp_t gfp)
{
	struct rpcrdma_conn *conn = &xr->xr_conn;
	u32 pages = xr->xr_sizes.cz_mr_pages;
	struct xprt_rdma_mr *mr;
	unsigned int flags;
	struct ib_mr *ib_mr;

	mr = kzalloc(sizeof(*mr), gfp);
	if (!mr)
		return NULL;
	mr->mr_xprt = xr;
	mr->mr_cid = rpcrdma_conn_cid(conn);
	mr->mr_cqe.done = xprt_rdma_frwr_wc_done;
	/* The table is chained, so no allocation takes more than a page. */
	if (sg_alloc_table(&mr->mr_pages, pages, gfp))
		goto out_destroy;

	/* ib_alloc_mr() takes no GFP flags, but the provider must not wait for memory
	 * either. With PF_MEMALLOC its allocations do not wait, but may use the kernel's
	 * memory reserve. They rarely need the reserve: with XPRT_RDMA_GFP, the
	 * allocations above have just succeeded without it.
	 */
	flags = memalloc_flags_save(PF_MEMALLOC);
	ib_mr = ib_alloc_mr(conn->cn_pd, conn->cn_caps.dc_sg_gaps ?
			    IB_MR_TYPE_SG_GAPS : IB_MR_TYPE_MEM_REG, pages);
	memalloc_flags_restore(flags);
	if (IS_ERR(ib_mr)) {
		trace_xprt_rdma_mr_alloc_err(xr, PTR_ERR(ib_mr));
		goto out_destroy;
	}
	mr->mr_ib = ib_mr;
	xr->xr_stats.cs_allocated++;
	spin_lock(&xr->xr_lock);
	list_add(&mr->mr_all, &xr->xr_mr_all);
	list_add_tail(&mr->mr_list, list);
	spin_unlock(&xr->xr_lock);
	return mr;

out_destroy:
	xprt_rdma_frwr_mr_destroy(mr);
	return NULL;
}

/**
 * xprt_rdma_frwr_reserve - create the regions that one RPC with the largest payload takes
 * @xr: transport with a new connection
 *
 * Further regions are created when they are needed. Regions are freed only with the
 * connection, so one RPC at a time can always be sent without allocating a region (I33).
 *
 * Context: process; sleeps. Send lock held.
 * Return: 0 or %-ENOBUFS.
 */
int xprt_rdma_frwr_reserve(struct xprt_rdma *xr)
{
	u32 i, n = xr->xr_sizes.cz_mrs_per_rpc + RPCRDMA_CLIENT_EXTRA_MRS;

	for (i = 0; i < n; i++)
		if (!xprt_rdma_frwr_mr_add(xr, &xr->xr_mr_free,
					   XPRT_RDMA_GFP_CONNECT))
			return -ENOBUFS;
	return 0;
}

/**
 * xprt_rdma_frwr_mr_unmap - unmap a region, if it is mapped
 * @mr: region that the server cannot access
 *
 * Context: any.
 */
void xprt_rdma_frwr_mr_unmap(struct xprt_rdma_mr *mr)
{
	struct scatterlist *sg;

	if (!mr->mr_nents)
		return;
	trace_xprt_rdma_mr_unmap(mr, NULL);
	if (IS_ENABLED(CONFIG_RPCRDMA_GPU) && unlikely(mr->mr_foreign))
		xprt_rdma_foreign_unmap(mr);
	else
		ib_dma_unmap_sg(mr->mr_ib->device, mr->mr_pages.sgl,
				mr->mr_nents, mr->mr_dir);
	mr->mr_nents = 0;
	for (sg = mr->mr_held; mr->mr_nheld; mr->mr_nheld--, sg = sg_next(sg))
		put_page(sg_page(sg));
}

static int xprt_rdma_frwr_fill(struct xprt_rdma *xr, struct xprt_rdma_mr *mr,
			       struct xprt_rdma_pieces *w)
{
	struct scatterlist *sg, *prev = NULL;
	int n;

	mr->mr_held = NULL;
	mr->mr_nheld = 0;
	for_each_sg(mr->mr_pages.sgl, sg, xr->xr_sizes.cz_mr_pages, n) {
		if (!xprt_rdma_pieces_peek(w, sg))
			break;
		/* Unless the device allows gaps, a region may begin and end anywhere in a page,
		 * but all pages in between must be whole.
		 */
		if (prev && !xr->xr_conn.cn_caps.dc_sg_gaps &&
		    (sg->offset ||
		     offset_in_page(prev->offset + prev->length)))
			break;
		/* If the Call is encrypted, xprt_rdma_frwr_register() takes references to all
		 * its pages except those of the head, which belong to the slot. RPCSEC_GSS
		 * has allocated the other pages, even that of the tail.
		 */
		if (w->ps_stage > 0 && !mr->mr_nheld++)
			mr->mr_held = sg;
		w->ps_off += sg->length;
		prev = sg;
	}
	return n;
}

/**
 * xprt_rdma_frwr_is_foreign - does a page list have foreign pages?
 * @xdr: buffer, all of whose pages have been allocated
 *
 * Context: any.
 * Return: true if at least one page is foreign.
 */
bool xprt_rdma_frwr_is_foreign(const struct xdr_buf *xdr)
{
	struct page **pages = xdr->pages + (xdr->page_base >> PAGE_SHIFT);
	u32 i, n = DIV_ROUND_UP(offset_in_page(xdr->page_base) + xdr->page_len,
				PAGE_SIZE);

	for (i = 0; i < n; i++)
		if (is_pci_p2pdma_page(pages[i]))
			return true;
	return xprt_rdma_foreign_is_on() && xprt_rdma_foreign_knows(pages, n);
}
EXPORT_SYMBOL_IF_KUNIT(xprt_rdma_frwr_is_foreign);

static bool xprt_rdma_frwr_is_p2pdma(const struct xprt_rdma_mr *mr, int n)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(mr->mr_pages.sgl, sg, n, i)
		if (is_pci_p2pdma_page(sg_page(sg)))
			return true;
	return false;
}

/* Maps the pages of a region. Returns the number of mapped entries; -EIO if some are foreign pages
 * and cannot be mapped; or -ENOBUFS if ordinary pages cannot be mapped.
 */
static int xprt_rdma_frwr_map_sg(struct xprt_rdma_mr *mr, int n)
{
	int nents;

	if (xprt_rdma_foreign_is_on()) {
		nents = xprt_rdma_foreign_map(mr, n);
		if (nents)
			return nents;
	}
	if (!mr->mr_xprt->xr_conn.cn_caps.dc_p2pdma &&
	    xprt_rdma_frwr_is_p2pdma(mr, n))
		return xprt_rdma_foreign_error();
	nents = ib_dma_map_sg(mr->mr_ib->device, mr->mr_pages.sgl, n,
			      mr->mr_dir);
	if (likely(nents))
		return nents;
	/* Even with dc_p2pdma, mapping fails if the device has no PCI path to P2PDMA pages. */
	return xprt_rdma_frwr_is_p2pdma(mr, n) ? xprt_rdma_foreign_error() :
						 -ENOBUFS;
}

/* Maps the pages of a region and fills in its registration request. The address in the segment
 * (rs_offset) consists of the XID in the upper half, and the offset within the first page. The
 * device requires the real offset, but the server learns nothing else about our memory. The XID
 * makes packet captures easier to read.
 */
static int xprt_rdma_frwr_register(struct xprt_rdma_mr *mr, int n,
				   const struct xprt_rdma_req *req,
				   bool remote_write)
{
	u64 xid = be32_to_cpu(req->rr_slot.rq_xid);
	struct ib_reg_wr *reg = &mr->mr_reg;
	struct scatterlist *sg;
	int nents, i;

	mr->mr_dir = remote_write ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
	if (remote_write || !req->rr_slot.rq_release_snd_buf)
		mr->mr_nheld = 0;
	nents = xprt_rdma_frwr_map_sg(mr, n);
	if (nents < 0)
		return nents;
	mr->mr_nents = n;
	/* RPCSEC_GSS frees the pages of an encrypted Call when the Call is encoded again, and the
	 * server may still be reading them at that time (RFC 8166 4.4.1).
	 */
	for_each_sg(mr->mr_held, sg, mr->mr_nheld, i)
		get_page(sg_page(sg));
	if (ib_map_mr_sg(mr->mr_ib, mr->mr_pages.sgl, nents, NULL,
			 PAGE_SIZE) != nents)
		return -EIO;

	mr->mr_ib->iova = xid << 32 | offset_in_page(mr->mr_ib->iova);
	ib_update_fast_reg_key(mr->mr_ib, ib_inc_rkey(mr->mr_ib->rkey));

	memset(reg, 0, sizeof(*reg));
	reg->wr.opcode = IB_WR_REG_MR;
	reg->wr.wr_cqe = &mr->mr_cqe;
	reg->mr = mr->mr_ib;
	reg->key = mr->mr_ib->rkey;
	reg->access = remote_write ?
		IB_ACCESS_REMOTE_WRITE | IB_ACCESS_LOCAL_WRITE :
		IB_ACCESS_REMOTE_READ;

	mr->mr_seg.rs_handle = mr->mr_ib->rkey;
	mr->mr_seg.rs_length = mr->mr_ib->length;
	mr->mr_seg.rs_offset = mr->mr_ib->iova;
	rpcrdma_count(client_mrs_registered);
	return 0;
}

/**
 * xprt_rdma_frwr_map - prepare the registration of an xdr_buf, or of its page list
 * @xr: transport, send lock held
 * @req: RPC that gets the regions
 * @xdr: buffer with an entire Call, or with room for an entire Reply
 * @all: true for the whole buffer, false for its page list
 * @offer: rr_read or rr_write of @req, to which segments are added. The server reads the memory,
 *	or writes to it
 *
 * Only the bytes of the buffer, or of its page list, are exposed, and only for one kind of access
 * (RFC 8166 8.1). No work request is posted.
 *
 * Context: process; may sleep.
 * Return: 0; %-ENOBUFS if no region or DMA mapping is available; %-EMSGSIZE if the
 *	buffer takes too many regions; %-EIO if ib_map_mr_sg() fails, if foreign pages
 *	cannot be mapped, or if another module has mapped only some of the
 *	regions. After an error, @req keeps the regions that it got until
 *	xprt_rdma_frwr_unmap_unposted() is called.
 */
int xprt_rdma_frwr_map(struct xprt_rdma *xr, struct xprt_rdma_req *req,
		       const struct xdr_buf *xdr, bool all,
		       struct xprt_rdma_offer *offer)
{
	struct xprt_rdma_pieces w = {
		.ps_xdr = xdr, .ps_stage = all ? 0 : 1, .ps_last = all ? 2 : 1,
	};
	bool remote_write = offer == &req->rr_write;
	bool foreign = false;
	struct scatterlist probe;
	struct xprt_rdma_mr *mr;
	int rc, n;

	sg_init_table(&probe, 1);
	while (xprt_rdma_pieces_peek(&w, &probe)) {
		if (offer->of_out.co_nsegs == RPCRDMA_CLIENT_SEGS)
			return -EMSGSIZE;
		spin_lock(&xr->xr_lock);
		mr = list_first_entry_or_null(&xr->xr_mr_free,
					      struct xprt_rdma_mr, mr_list);
		if (mr)
			list_move_tail(&mr->mr_list, &req->rr_mrs);
		spin_unlock(&xr->xr_lock);
		if (!mr)
			mr = xprt_rdma_frwr_mr_add(xr, &req->rr_mrs,
						   XPRT_RDMA_GFP);
		if (!mr)
			return -ENOBUFS;
		n = xprt_rdma_frwr_fill(xr, mr, &w);
		rc = xprt_rdma_frwr_register(mr, n, req, remote_write);
		if (rc)
			return rc;
		/* Another module (foreign.c) has mapped some regions of the chunk, but not all:
		 * only some have its pages, or it has registered or unregistered its functions
		 * since the first region was mapped.
		 */
		if (offer->of_out.co_nsegs && mr->mr_foreign != foreign)
			return xprt_rdma_foreign_error();
		foreign = mr->mr_foreign;
		req->rr_foreign |= foreign;
		trace_xprt_rdma_mr_map(mr, req);
		offer->of_segs[offer->of_out.co_nsegs++] = mr->mr_seg;
	}
	return 0;
}

/**
 * xprt_rdma_frwr_count - compute the maximum number of regions that an xdr_buf takes
 * @xr: transport
 * @xdr: buffer
 * @item: set to the maximum number of regions that its page list takes
 *
 * Context: any.
 * Return: the maximum number of regions, which is also the maximum number of segments.
 */
u32 xprt_rdma_frwr_count(const struct xprt_rdma *xr, const struct xdr_buf *xdr,
			 u32 *item)
{
	u32 pages = xr->xr_sizes.cz_mr_pages;
	u32 n;

	n = rpcrdma_size_mrs(xdr->page_len, offset_in_page(xdr->page_base),
			     PAGE_SIZE, pages);
	*item = n;
	n += rpcrdma_size_mrs(xdr->head[0].iov_len,
			      offset_in_page(xdr->head[0].iov_base),
			      PAGE_SIZE, pages);
	n += rpcrdma_size_mrs(xdr->tail[0].iov_len,
			      offset_in_page(xdr->tail[0].iov_base),
			      PAGE_SIZE, pages);
	return n;
}

/**
 * xprt_rdma_frwr_unmap_unposted - unmap regions whose registration was not posted, and return
 *	them to the pool
 * @xr: transport
 * @req: RPC whose Call could not be built or was not posted
 *
 * Context: process. Send lock held.
 */
void xprt_rdma_frwr_unmap_unposted(struct xprt_rdma *xr,
				   struct xprt_rdma_req *req)
{
	struct xprt_rdma_mr *mr, *next;

	spin_lock(&xr->xr_lock);
	list_for_each_entry_safe(mr, next, &req->rr_mrs, mr_list) {
		xprt_rdma_frwr_mr_unmap(mr);
		list_move(&mr->mr_list, &xr->xr_mr_free);
	}
	spin_unlock(&xr->xr_lock);
}

/**
 * xprt_rdma_frwr_destroy_all - destroy the regions of a connection
 * @xr: transport whose connection no longer has queues
 *
 * The server can no longer access the memory. The regions are also removed from the RPCs
 * that used them (rr_mrs).
 *
 * Context: process; sleeps. Send lock held.
 */
void xprt_rdma_frwr_destroy_all(struct xprt_rdma *xr)
{
	struct xprt_rdma_mr *mr, *next;

	list_for_each_entry_safe(mr, next, &xr->xr_mr_all, mr_all) {
		spin_lock(&xr->xr_lock);
		xprt_rdma_frwr_mr_unmap(mr);
		list_del_init(&mr->mr_list);
		spin_unlock(&xr->xr_lock);
		list_del(&mr->mr_all);
		xprt_rdma_frwr_mr_destroy(mr);
		xr->xr_stats.cs_recycled++;
	}
	INIT_LIST_HEAD(&xr->xr_mr_free);
}
