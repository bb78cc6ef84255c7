// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA Reads and Writes. This file builds chains of work requests that transfer bytes
 * between chunks and local memory. It uses rdma_rw of the RDMA core. It does not know what
 * the bytes mean, or when a chain is posted.
 *
 * An xdr_buf describes the local memory, even where RDMA Reads fill an array of pages:
 * the xdr_buf then has an empty head and an empty tail.
 *
 * This file uses the scatterlist interface of rdma_rw, which all supported kernels have. Pages that
 * are adjacent in memory become one entry, unless it would be too long (sx_rw_seg). That matters,
 * because each entry takes an SGE, and more SGEs take more work requests. This file gives a context
 * of rdma_rw no more pages than fit in one memory region. So where rdma_rw uses memory regions,
 * each context takes exactly one region.
 *
 * Some devices need or prefer memory regions for RDMA Reads (dc_read_mrs). This file creates the
 * regions of a connection when they are needed, and counts how many there are and how many are
 * free. The regions themselves are in the queue pair's pool, from which rdma_rw takes them. No
 * thread waits for regions: a Call that finds too few waits in server/queue.c until other Calls
 * return theirs. All regions of a chain of RDMA Reads are reserved at once, and before its send
 * queue slots (invariant I9).
 */
#include <kunit/visibility.h>
#include <linux/bvec.h>
#include <linux/dma-mapping.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/sunrpc/xdr.h>
#include <rdma/mr_pool.h>
#include <rdma/rw.h>
#include <rpcrdma/counters.h>

#include "svc_rdma.h"

/* Maximum number of pages of a context. rdma_rw makes no larger memory regions either. */
#define SVC_RDMA_RW_PAGES	256u

/**
 * svc_rdma_rw_set_limits - compute the limits of contexts and their scatterlist entries
 * @sx: connection that is being accepted
 *
 * An entry of several pages must not be too large to be DMA-mapped: a bounce buffer (swiotlb) has
 * a maximum size, and a device may have address boundaries that a mapping must not cross. This does
 * not concern software devices, which do no DMA mapping. dc_max_mr_pages limits contexts only on
 * devices where RDMA Reads may take memory regions. On others it may be 0 (mthca).
 *
 * Context: process.
 */
void svc_rdma_rw_set_limits(struct svc_rdma_xprt *sx)
{
	const struct rpcrdma_device_caps *caps = &sx->sx_conn.cn_caps;
	struct ib_device *device = rpcrdma_conn_device(&sx->sx_conn);
	size_t seg = min_t(size_t, ib_dma_max_seg_size(device), S32_MAX);

	sx->sx_rw_boundary = ULONG_MAX;
	if (!ib_uses_virt_dma(device)) {
		seg = min(seg, dma_max_mapping_size(device->dma_device));
		sx->sx_rw_boundary = dma_get_seg_boundary(device->dma_device);
	}
	sx->sx_rw_seg = max_t(size_t, round_down(seg, PAGE_SIZE), PAGE_SIZE);
	sx->sx_rw_pages = SVC_RDMA_RW_PAGES;
	if (caps->dc_read_mrs)
		sx->sx_rw_pages = clamp(caps->dc_max_mr_pages, 1u,
					SVC_RDMA_RW_PAGES);
}

/**
 * svc_rdma_rw_check - can this server make RDMA Writes on this connection?
 * @sx: connection with a queue pair
 *
 * RDMA Writes take no memory regions, unless the module parameter ib_core.force_mr is set,
 * which is meant for tests of the core. The only way to find out is to prepare a Write: if
 * force_mr is set, this fails, because the queue pair has no regions yet. The Write is never
 * posted, so it does not matter of what memory it is.
 *
 * Context: process; sleeps.
 * Return: 0; %-EOPNOTSUPP if RDMA Writes take memory regions; or another negative errno.
 */
int svc_rdma_rw_check(struct svc_rdma_xprt *sx)
{
	struct rdma_cm_id *id = sx->sx_conn.cn_id;
	struct rdma_rw_ctx ctx = { };
	struct scatterlist sg;
	int rc;

	sg_init_one(&sg, sx, 1);
	rc = rdma_rw_ctx_init(&ctx, id->qp, id->port_num, &sg, 1, 0, 0, 0,
			      DMA_TO_DEVICE);
	if (rc == -EAGAIN) {
		pr_err_once("rpcrdma: clients are refused: the server cannot work with ib_core.force_mr=1\n");
		return -EOPNOTSUPP;
	}
	if (rc < 0)
		return rc;
	rdma_rw_ctx_destroy(&ctx, id->qp, id->port_num, &sg, 1, DMA_TO_DEVICE);
	return 0;
}

/* Reserve @count regions, without a lock. Returns false, and reserves none, if fewer are free, or
 * if rpcrdma_sq_close() was called because the connection ends.
 */
static bool svc_rdma_mrs_try(struct svc_rdma_xprt *sx, u32 count)
{
	return !rpcrdma_sq_is_closed(&sx->sx_conn.cn_sq) &&
	       rpcrdma_take(&sx->sx_mrs_free, count, 0);
}

/* Add one region. A new connection has no regions, and gets them only when it needs them, because
 * most connections never need many. The region joins the pool of the queue pair (rdma_mrs),
 * from which rdma_rw takes regions, and is destroyed with the queue pair. It is first created
 * in a separate pool, because ib_mr_pool_init() destroys all regions of the pool if it fails.
 */
static int svc_rdma_mrs_add(struct svc_rdma_xprt *sx)
{
	struct ib_qp *qp = sx->sx_conn.cn_id->qp;
	LIST_HEAD(fresh);
	int rc;

	rc = ib_mr_pool_init(qp, &fresh, 1, IB_MR_TYPE_MEM_REG,
			     sx->sx_rw_pages, 0);
	if (rc)
		return rc;

	ib_mr_pool_put(qp, &qp->rdma_mrs, ib_mr_pool_get(qp, &fresh));

	WRITE_ONCE(sx->sx_nmrs, sx->sx_nmrs + 1);
	/* The region is in the pool before it is counted as free. The pool's lock makes it
	 * visible to any task that takes a region.
	 */
	atomic_inc(&sx->sx_mrs_free);
	return 0;
}

/* Try to add *@count regions, up to the maximum (sz_read_mrs). Afterwards the connection may
 * still have fewer than *@count regions in all. On iWARP that is an error. On other devices,
 * rdma_rw of newer kernels can work without regions, so *@count is lowered to the number of
 * regions. (With older kernels, building the chain then fails, and the connection is closed.)
 */
static int svc_rdma_mrs_grow(struct svc_rdma_xprt *sx, u32 *count)
{
	u32 room, i;
	int rc = 0;

	mutex_lock(&sx->sx_grow);
	room = sx->sx_sizes.sz_read_mrs - sx->sx_nmrs;
	for (i = 0; !rc && i < min(*count, room); i++)
		rc = svc_rdma_mrs_add(sx);
	if (!sx->sx_conn.cn_caps.dc_iwarp)
		*count = min(*count, sx->sx_nmrs);
	if (sx->sx_nmrs >= *count)
		rc = 0;
	mutex_unlock(&sx->sx_grow);
	return rc;
}

/* Gives regions back; @count may be 0. The caller holds no spinlock, because this may take sx_lock
 * and call sunrpc: see svc_rdma_pull_next().
 */
static void svc_rdma_mrs_release(struct svc_rdma_xprt *sx, u32 count)
{
	if (!count)
		return;
	atomic_add(count, &sx->sx_mrs_free);
	svc_rdma_pull_next(sx);
}

/**
 * svc_rdma_mrs_reserve - reserve memory regions for a chain of RDMA Reads
 * @sx: connection
 * @contexts: maximum number of rdma_rw contexts in the chain
 * @reserved: OUT: number of regions reserved; unchanged if dc_read_mrs is not set, and on
 *	error
 * @short_of: OUT: after %-EAGAIN, number of regions that have to be free
 *
 * On iWARP, the response to an RDMA Read carries a tag of the memory that it fills. So this memory
 * must be in a region. Other devices may prefer regions for large RDMA Reads. All regions are
 * reserved at once: Calls that hold some regions while they wait for more could deadlock.
 *
 * If too few are free, this tries to add as many regions as the chain needs, up to the
 * maximum. If the connection has fewer than the chain needs even then, this fails on iWARP. On
 * other devices this reserves only as many regions as exist, because rdma_rw can also work
 * without regions.
 *
 * Context: process; sleeps.
 * Return: 0; %-EMSGSIZE if @contexts exceeds the maximum; %-ENOTCONN if the connection is down,
 *	and too few regions are free or the send queue is closed; on iWARP, the error of
 *	ib_mr_pool_init() if fewer regions exist than the chain needs; or %-EAGAIN if as many
 *	regions exist as this tries to reserve, but too few are free or the send queue is closed.
 *	After %-EAGAIN the caller has to try again when *@short_of regions are free.
 */
int svc_rdma_mrs_reserve(struct svc_rdma_xprt *sx, u64 contexts, u32 *reserved,
			 u32 *short_of)
{
	u32 count = contexts;
	int rc;

	if (!sx->sx_conn.cn_caps.dc_read_mrs)
		return 0;
	if (contexts > sx->sx_sizes.sz_read_mrs)
		return -EMSGSIZE;
	if (unlikely(!svc_rdma_mrs_try(sx, count))) {
		if (svc_rdma_is_down(sx))
			return -ENOTCONN;
		rc = svc_rdma_mrs_grow(sx, &count);
		if (rc)
			return rc;
		if (!svc_rdma_mrs_try(sx, count)) {
			*short_of = count;
			return -EAGAIN;
		}
	}
	*reserved = count;
	return 0;
}

/**
 * svc_rdma_chain_trim - give back the memory regions that a chain does not need
 * @sx: connection
 * @chain: chain to which nothing more is appended
 *
 * Context: process or completion workqueue. The caller holds no spinlock, because this may take
 *	sx_lock and call sunrpc: see svc_rdma_pull_next().
 */
void svc_rdma_chain_trim(struct svc_rdma_xprt *sx, struct svc_rdma_chain *chain)
{
	u32 used = min(chain->sh_mrs, chain->sh_nrws);

	svc_rdma_mrs_release(sx, chain->sh_mrs - used);
	chain->sh_mrs = used;
}

static void svc_rdma_piece_kvec(const struct kvec *kvec, u32 offset,
				struct bio_vec *piece)
{
	void *addr = kvec->iov_base + offset;

	piece->bv_page = virt_to_page(addr);
	piece->bv_offset = offset_in_page(addr);
	piece->bv_len = min_t(size_t, kvec->iov_len - offset,
			      PAGE_SIZE - piece->bv_offset);
}

/* Get the longest piece of @xdr that begins at @offset, and is in one page. */
static void svc_rdma_piece_at(const struct xdr_buf *xdr, u32 offset,
			      struct bio_vec *piece)
{
	u32 left;

	if (offset < xdr->head[0].iov_len) {
		svc_rdma_piece_kvec(&xdr->head[0], offset, piece);
		return;
	}

	offset -= xdr->head[0].iov_len;
	if (offset >= xdr->page_len) {
		svc_rdma_piece_kvec(&xdr->tail[0], offset - xdr->page_len,
				    piece);
		return;
	}

	left = xdr->page_len - offset;
	offset += xdr->page_base;
	piece->bv_page = xdr->pages[offset >> PAGE_SHIFT];
	piece->bv_offset = offset_in_page(offset);
	piece->bv_len = min_t(u32, left, PAGE_SIZE - piece->bv_offset);
}

/* Can @piece be appended to an entry of @len bytes that ends at @end? */
static bool svc_rdma_piece_follows(const struct svc_rdma_xprt *sx,
				   const struct bio_vec *piece,
				   phys_addr_t end, u32 len)
{
	phys_addr_t first = end - len;
	phys_addr_t last = end + piece->bv_len - 1;

	return page_to_phys(piece->bv_page) + piece->bv_offset == end &&
	       len + piece->bv_len <= sx->sx_rw_seg &&
	       (first | sx->sx_rw_boundary) >= last;
}

/* Describe *@len bytes of @xdr from @offset as scatterlist entries; or fewer bytes, if
 * *@len bytes take more pages than a context may have. Sets *@len to the number of bytes
 * described. Fills @sg unless it is NULL. Returns the number of entries.
 */
static u32 svc_rdma_sg_fill(const struct svc_rdma_xprt *sx,
			    const struct xdr_buf *xdr, u32 offset, u32 *len,
			    struct scatterlist *sg)
{
	u32 entry = 0, nents = 0, done = 0, pages = sx->sx_rw_pages;
	struct bio_vec piece;
	phys_addr_t end = 0;

	while (done < *len && pages--) {
		svc_rdma_piece_at(xdr, offset + done, &piece);
		piece.bv_len = min(piece.bv_len, *len - done);

		if (nents && svc_rdma_piece_follows(sx, &piece, end, entry)) {
			entry += piece.bv_len;
			if (sg)
				sg[nents - 1].length = entry;
		} else {
			if (sg)
				sg_set_page(&sg[nents], piece.bv_page,
					    piece.bv_len, piece.bv_offset);
			entry = piece.bv_len;
			nents++;
		}
		end = page_to_phys(piece.bv_page) + piece.bv_offset +
		      piece.bv_len;
		done += piece.bv_len;
	}
	*len = done;
	return nents;
}

/* Append one context of rdma_rw. It transfers bytes at the beginning of @seg, as many as a context
 * may, to or from local memory at @offset. Returns their number, or a negative errno.
 */
static int svc_rdma_chain_add_rw(struct svc_rdma_xprt *sx,
				 struct svc_rdma_chain *chain,
				 const struct svc_rdma_move *move,
				 const struct rpcrdma_segment *seg, u32 offset)
{
	struct rdma_cm_id *id = sx->sx_conn.cn_id;
	u32 len = seg->rs_length, nents;
	struct svc_rdma_rw *rw;
	int rc;

	nents = svc_rdma_sg_fill(sx, move->mv_xdr, offset, &len, NULL);
	rw = kvmalloc(struct_size(rw, sw_sg, nents), GFP_KERNEL);
	if (!rw)
		return -ENOMEM;
	memset(&rw->sw_ctx, 0, sizeof(rw->sw_ctx));
	rw->sw_dir = move->mv_dir;
	rw->sw_nents = nents;
	sg_init_table(rw->sw_sg, nents);
	svc_rdma_sg_fill(sx, move->mv_xdr, offset, &len, rw->sw_sg);

	rc = rdma_rw_ctx_init(&rw->sw_ctx, id->qp, id->port_num, rw->sw_sg,
			      nents, 0, seg->rs_offset, seg->rs_handle,
			      rw->sw_dir);
	if (rc < 0) {
		kvfree(rw);
		/* If no region is free, older kernels return -EAGAIN instead of going on without
		 * one. The regions were reserved, so a region that is missing could not be
		 * allocated.
		 */
		return rc == -EAGAIN ? -ENOMEM : rc;
	}
	list_add_tail(&rw->sw_list, &chain->sh_rws);
	chain->sh_nrws++;
	chain->sh_wrs += rc;
	if (rw->sw_dir == DMA_TO_DEVICE)
		rpcrdma_count_add(server_rdma_write_wrs, rc);
	else
		rpcrdma_count_add(server_rdma_read_wrs, rc);
	return len;
}

/**
 * svc_rdma_chain_add - append the transfer of bytes between a chunk and local memory
 * @sx: connection
 * @chain: chain to append to
 * @move: bytes to transfer
 *
 * Segments are used in the order that they have in the chunk and without gaps
 * (RFC 8166 3.4.5, 3.4.6). The first byte of a segment is at the address that the peer has
 * sent, whatever that address is (RFC 8166 4.4.3).
 *
 * Context: process; sleeps.
 * Return: 0; %-EMSGSIZE if the chunk ends before all bytes are transferred, and then only the
 *	transfer of the bytes up to its end was appended; or another negative errno, but not
 *	%-EAGAIN, which svc_rdma_mrs_reserve() alone returns. In all cases
 *	svc_rdma_chain_destroy() cleans up.
 */
int svc_rdma_chain_add(struct svc_rdma_xprt *sx, struct svc_rdma_chain *chain,
		       const struct svc_rdma_move *move)
{
	u32 skip = move->mv_chunk_offset, done = 0;
	struct rpcrdma_seg_iter iter;
	struct rpcrdma_segment seg;
	int rc;

	rpcrdma_chunk_first(move->mv_lists, move->mv_chunk, &iter);
	while (done < move->mv_len && rpcrdma_chunk_next(&iter, &seg)) {
		if (skip >= seg.rs_length) {
			skip -= seg.rs_length;
			continue;
		}
		seg.rs_offset += skip;
		seg.rs_length = min(move->mv_len - done, seg.rs_length - skip);
		skip = 0;
		while (seg.rs_length) {
			rc = svc_rdma_chain_add_rw(sx, chain, move, &seg,
						   move->mv_offset + done);
			if (rc < 0)
				return rc;
			seg.rs_offset += rc;
			seg.rs_length -= rc;
			done += rc;
		}
	}
	return done < move->mv_len ? -EMSGSIZE : 0;
}
EXPORT_SYMBOL_IF_KUNIT(svc_rdma_chain_add);

/**
 * svc_rdma_chain_has_page - does a chain transfer from or to a page?
 * @chain: complete chain
 * @page: a single page
 *
 * Context: any.
 * Return: %true if the chain transfers a byte of the page.
 */
bool svc_rdma_chain_has_page(const struct svc_rdma_chain *chain,
			     const struct page *page)
{
	phys_addr_t first, addr = page_to_phys(page);
	const struct svc_rdma_rw *rw;
	u32 i;

	list_for_each_entry(rw, &chain->sh_rws, sw_list) {
		for (i = 0; i < rw->sw_nents; i++) {
			first = sg_phys((struct scatterlist *)&rw->sw_sg[i]);
			if (first < addr + PAGE_SIZE &&
			    addr < first + rw->sw_sg[i].length)
				return true;
		}
	}
	return false;
}

/**
 * svc_rdma_chain_wrs - get the work requests of a chain
 * @sx: connection
 * @chain: chain; not empty if @last is NULL
 * @cqe: completion of the whole chain if @last is NULL; otherwise not used
 * @last: work request to link behind the chain, or NULL
 *
 * This is called once, just before posting.
 *
 * Context: any.
 * Return: the first work request to post.
 */
struct ib_send_wr *svc_rdma_chain_wrs(struct svc_rdma_xprt *sx,
				      struct svc_rdma_chain *chain,
				      struct ib_cqe *cqe,
				      struct ib_send_wr *last)
{
	struct rdma_cm_id *id = sx->sx_conn.cn_id;
	struct svc_rdma_rw *rw;

	list_for_each_entry_reverse(rw, &chain->sh_rws, sw_list)
		last = rdma_rw_ctx_wrs(&rw->sw_ctx, id->qp, id->port_num,
				       cqe, last);
	return last;
}

/**
 * svc_rdma_chain_destroy - unmap and free all of a chain
 * @sx: connection; its queue pair still exists unless @chain is empty
 * @chain: chain that the device does not use; empty afterwards
 *
 * Context: process or completion workqueue; may sleep.
 */
void svc_rdma_chain_destroy(struct svc_rdma_xprt *sx,
			    struct svc_rdma_chain *chain)
{
	struct rdma_cm_id *id = sx->sx_conn.cn_id;
	struct svc_rdma_rw *rw, *next;

	list_for_each_entry_safe(rw, next, &chain->sh_rws, sw_list) {
		rdma_rw_ctx_destroy(&rw->sw_ctx, id->qp, id->port_num,
				    rw->sw_sg, rw->sw_nents, rw->sw_dir);
		kvfree(rw);
	}
	svc_rdma_mrs_release(sx, chain->sh_mrs);
	svc_rdma_chain_init(chain);
}
