// SPDX-License-Identifier: GPL-2.0
/*
 * Memory as an adapter sees it
 *
 * The adapter has a device of the DMA API with operations of its own. Each mapping gets DMA
 * addresses that no other mapping ever had, and a copy of the memory, the shadow. The adapter
 * works on the shadow only. So it sees what a ULP gave to it by mapping or by
 * dma_sync_*_for_device(), and nothing that the CPU wrote later. What the adapter was not given is
 * poisoned. The CPU sees what the adapter wrote after unmapping or dma_sync_*_for_cpu(), and only
 * those bytes: an adapter leaves the rest of a buffer alone.
 *
 * Whether an access is allowed is decided for each byte. Two bitmaps of a mapping have one bit per
 * byte: written by the adapter since the last copy, and owned by the CPU.
 *
 * With the parameter coherent, the data are moved to and from the CPU's memory at once, as on most
 * PCs. The shadow then only serves to find differences.
 *
 * Coherent memory (dma_alloc_coherent()) belongs to both at all times, and has no shadow.
 *
 * With the parameter direct, there is nothing of that: the kernel's own code maps, as for an adapter
 * of a PC without an IOMMU, and the adapter takes DMA addresses for physical ones.
 */
#include <linux/bitmap.h>
#include <linux/dma-map-ops.h>
#include <linux/platform_device.h>
#include <linux/rbtree.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>
#include "hca.h"

#define HCA_POISON	0xa5
#define HCA_STACK	12
/* Mappings whose stack is shown in debugfs */
#define HCA_SHOWN	50

/**
 * struct hca_map - a mapping
 * @node: in hca_maps, by @addr
 * @device: for which device
 * @addr: DMA address
 * @len: bytes
 * @dir: direction
 * @cpu: the CPU's memory
 * @shadow: the adapter's; @cpu if the memory is coherent
 * @written: bit for each byte: the adapter has written it, and the CPU has not got it yet
 * @owned: bit for each byte: the CPU owns it. Like @written, NULL if the memory is coherent.
 * @users: requests that use it, and are not known to be done
 * @depth: length of @stack
 * @stack: who made the mapping
 */
struct hca_map {
	struct rb_node node;
	struct device *device;
	u64 addr;
	u32 len;
	enum dma_data_direction dir;
	u8 *cpu;
	u8 *shadow;
	unsigned long *written;
	unsigned long *owned;
	int users;
	unsigned int depth;
	unsigned long stack[HCA_STACK];
};

/* All mappings of all devices. The lock also protects the shadows. */
static struct rb_root hca_maps = RB_ROOT;
static DEFINE_SPINLOCK(hca_maps_lock);
static unsigned long hca_maps_count;
/* DMA addresses are used only once. There are enough for 2^34 mappings of one page. */
static u64 hca_maps_next = 1ULL << 40;

static void hca_map_complain(enum hca_kind kind, const struct hca_map *map,
			     const char *what, u64 addr, u32 len)
{
	static const char * const dirs[] = { "bidirectional", "to-device",
					     "from-device", "none" };

	if (!map) {
		hca_report(kind, "%s of %u bytes at %#llx", what, len, addr);
		return;
	}
	hca_report(kind, "%s of %u bytes at %#llx; %u bytes at %#llx are mapped %s by %pS %pS %pS %pS %pS %pS %pS %pS",
		   what, len, addr, map->len, map->addr, dirs[map->dir],
		   (void *)map->stack[0], (void *)map->stack[1],
		   (void *)map->stack[2], (void *)map->stack[3],
		   (void *)map->stack[4], (void *)map->stack[5],
		   (void *)map->stack[6], (void *)map->stack[7]);
}

static struct hca_map *hca_map_find(struct device *device, u64 addr)
{
	struct rb_node *node = hca_maps.rb_node;
	struct hca_map *map;

	while (node) {
		map = rb_entry(node, struct hca_map, node);
		if (addr < map->addr)
			node = node->rb_left;
		else if (addr >= map->addr + map->len)
			node = node->rb_right;
		else
			return map->device == device ? map : NULL;
	}
	return NULL;
}

/* Addresses only grow, so the new mapping is the last one. */
static void hca_map_insert(struct hca_map *map, u32 offset)
{
	struct rb_node **link = &hca_maps.rb_node, *parent = NULL;

	map->addr = hca_maps_next + offset;
	/* The page behind a mapping is never mapped. */
	hca_maps_next += PAGE_ALIGN(offset + map->len) + PAGE_SIZE;
	while (*link) {
		parent = *link;
		link = &parent->rb_right;
	}
	rb_link_node(&map->node, parent, link);
	rb_insert_color(&map->node, &hca_maps);
	hca_maps_count++;
}

static void hca_map_free(struct hca_map *map)
{
	kfree(map->written);
	kfree(map->owned);
	kfree(map->shadow);
	kfree(map);
}

static struct hca_map *hca_map_alloc(u32 len)
{
	gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct hca_map *map = kzalloc(sizeof(*map), gfp);

	if (!map)
		return NULL;
	map->shadow = kmalloc(len, gfp);
	map->written = bitmap_zalloc(len, gfp);
	map->owned = bitmap_zalloc(len, gfp);
	if (map->shadow && map->written && map->owned)
		return map;
	hca_map_free(map);
	return NULL;
}

/* The adapter gets bytes from the CPU. */
static void hca_map_give(struct hca_map *map, u32 offset, u32 len)
{
	bitmap_clear(map->owned, offset, len);
	if (map->dir == DMA_FROM_DEVICE)
		return;
	memcpy(map->shadow + offset, map->cpu + offset, len);
	bitmap_clear(map->written, offset, len);
}

/* The CPU gets the bytes that the adapter has written. */
static void hca_map_take(struct hca_map *map, u32 offset, u32 len)
{
	unsigned long from, to = offset;

	while (map->dir != DMA_TO_DEVICE) {
		from = find_next_bit(map->written, offset + len, to);
		if (from >= offset + len)
			break;
		to = find_next_zero_bit(map->written, offset + len, from);
		memcpy(map->cpu + from, map->shadow + from, to - from);
	}
	bitmap_clear(map->written, offset, len);
}

static dma_addr_t hca_dma_map(struct device *device, phys_addr_t phys,
			      size_t len, enum dma_data_direction dir,
			      unsigned long attrs)
{
	struct hca_map *map;
	unsigned long flags;

	if (!len || len > KMALLOC_MAX_SIZE || !pfn_valid(PHYS_PFN(phys)) ||
	    hca_fault(HCA_FAULT_DMA_MAP))
		return DMA_MAPPING_ERROR;
	map = hca_map_alloc(len);
	if (!map)
		return DMA_MAPPING_ERROR;
	map->device = device;
	map->len = len;
	map->dir = dir;
	map->cpu = phys_to_virt(phys);
	map->depth = stack_trace_save(map->stack, HCA_STACK, 3);
	memset(map->shadow, HCA_POISON, len);
	if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		hca_map_give(map, 0, len);
	spin_lock_irqsave(&hca_maps_lock, flags);
	hca_map_insert(map, offset_in_page(phys));
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	hca_count(HCA_N_MAPPINGS, 1);
	return map->addr;
}

static void hca_dma_unmap(struct device *device, dma_addr_t addr, size_t len,
			  enum dma_data_direction dir, unsigned long attrs)
{
	struct hca_map *map;
	unsigned long flags;

	spin_lock_irqsave(&hca_maps_lock, flags);
	map = hca_map_find(device, addr);
	if (!map || map->addr != addr || map->len != len || map->dir != dir)
		hca_map_complain(HCA_UNMAP, map, "unmapping", addr, len);
	if (map && map->users)
		hca_map_complain(HCA_IN_USE, map, "unmapping", addr, len);
	if (map) {
		if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC))
			hca_map_take(map, 0, map->len);
		rb_erase(&map->node, &hca_maps);
		hca_maps_count--;
	}
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	if (map)
		hca_map_free(map);
}

static void hca_sync(struct device *device, dma_addr_t addr, size_t len,
		     enum dma_data_direction dir, bool cpu)
{
	struct hca_map *map;
	unsigned long flags;
	u32 offset;

	hca_count(HCA_N_SYNCS, 1);
	spin_lock_irqsave(&hca_maps_lock, flags);
	map = hca_map_find(device, addr);
	offset = map ? addr - map->addr : 0;
	if (!map || len > map->len - offset || map->dir != dir || !map->owned) {
		hca_map_complain(HCA_UNMAP, map, "sync", addr, len);
	} else if (cpu) {
		hca_map_take(map, offset, len);
		bitmap_set(map->owned, offset, len);
	} else {
		hca_map_give(map, offset, len);
	}
	spin_unlock_irqrestore(&hca_maps_lock, flags);
}

static void hca_sync_for_cpu(struct device *device, dma_addr_t addr, size_t len,
			     enum dma_data_direction dir)
{
	hca_sync(device, addr, len, dir, true);
}

static void hca_sync_for_device(struct device *device, dma_addr_t addr,
				size_t len, enum dma_data_direction dir)
{
	hca_sync(device, addr, len, dir, false);
}

static void hca_sync_sg(struct device *device, struct scatterlist *sgl, int n,
			enum dma_data_direction dir, bool cpu)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i)
		hca_sync(device, sg_dma_address(sg), sg_dma_len(sg), dir, cpu);
}

static void hca_sync_sg_for_cpu(struct device *device, struct scatterlist *sgl,
				int n, enum dma_data_direction dir)
{
	hca_sync_sg(device, sgl, n, dir, true);
}

static void hca_sync_sg_for_device(struct device *device,
				   struct scatterlist *sgl, int n,
				   enum dma_data_direction dir)
{
	hca_sync_sg(device, sgl, n, dir, false);
}

static void hca_unmap_sg(struct device *device, struct scatterlist *sgl, int n,
			 enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i)
		hca_dma_unmap(device, sg_dma_address(sg), sg_dma_len(sg), dir,
			      attrs);
}

static int hca_map_sg(struct device *device, struct scatterlist *sgl, int n,
		      enum dma_data_direction dir, unsigned long attrs)
{
	struct scatterlist *sg;
	int i;

	for_each_sg(sgl, sg, n, i) {
		sg->dma_address = hca_dma_map(device, sg_phys(sg), sg->length,
					      dir, attrs);
		if (sg->dma_address == DMA_MAPPING_ERROR) {
			hca_unmap_sg(device, sgl, i, dir, attrs);
			return -ENOMEM;
		}
		sg_dma_len(sg) = sg->length;
	}
	return n;
}

/* The DMA address is aligned to the size, as core-api/dma-api.rst demands. */
static void *hca_dma_alloc(struct device *device, size_t len, dma_addr_t *addr,
			   gfp_t gfp, unsigned long attrs)
{
	struct hca_map *map = kzalloc(sizeof(*map), gfp);
	unsigned long flags;

	if (!map)
		return NULL;
	map->cpu = vmalloc_user(len);
	if (!map->cpu) {
		kfree(map);
		return NULL;
	}
	map->device = device;
	map->len = len;
	map->dir = DMA_BIDIRECTIONAL;
	map->shadow = map->cpu;
	map->depth = stack_trace_save(map->stack, HCA_STACK, 3);
	spin_lock_irqsave(&hca_maps_lock, flags);
	hca_maps_next = ALIGN(hca_maps_next, roundup_pow_of_two(len));
	hca_map_insert(map, 0);
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	*addr = map->addr;
	return map->cpu;
}

static void hca_dma_free(struct device *device, size_t len, void *cpu,
			 dma_addr_t addr, unsigned long attrs)
{
	struct hca_map *map;
	unsigned long flags;

	spin_lock_irqsave(&hca_maps_lock, flags);
	map = hca_map_find(device, addr);
	if (!map || map->addr != addr || map->len != len || map->cpu != cpu) {
		hca_map_complain(HCA_UNMAP, map, "freeing", addr, len);
		map = NULL;
	} else {
		if (map->users)
			hca_map_complain(HCA_IN_USE, map, "freeing", addr, len);
		rb_erase(&map->node, &hca_maps);
		hca_maps_count--;
	}
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	if (map)
		vfree(map->cpu);
	kfree(map);
}

static int hca_dma_mmap(struct device *device, struct vm_area_struct *vma,
			void *cpu, dma_addr_t addr, size_t len,
			unsigned long attrs)
{
	return remap_vmalloc_range(vma, cpu, vma->vm_pgoff);
}

#ifndef HCA_MAP_PHYS
static dma_addr_t hca_map_page(struct device *device, struct page *page,
			       unsigned long offset, size_t len,
			       enum dma_data_direction dir, unsigned long attrs)
{
	return hca_dma_map(device, page_to_phys(page) + offset, len, dir, attrs);
}
#endif

static const struct dma_map_ops hca_dma_ops = {
	.alloc = hca_dma_alloc,
	.free = hca_dma_free,
	.mmap = hca_dma_mmap,
#ifdef HCA_MAP_PHYS
	.map_phys = hca_dma_map,
	.unmap_phys = hca_dma_unmap,
#else
	.map_page = hca_map_page,
	.unmap_page = hca_dma_unmap,
#endif
	.map_sg = hca_map_sg,
	.unmap_sg = hca_unmap_sg,
	.sync_single_for_cpu = hca_sync_for_cpu,
	.sync_single_for_device = hca_sync_for_device,
	.sync_sg_for_cpu = hca_sync_sg_for_cpu,
	.sync_sg_for_device = hca_sync_sg_for_device,
};

/* Has the CPU written to bytes that it gave to the adapter? Bytes of the adapter do not count. */
static bool hca_map_differs(const struct hca_map *map, u32 offset, u32 len)
{
	unsigned long i = offset;

	if (map->dir == DMA_FROM_DEVICE ||
	    !memcmp(map->shadow + offset, map->cpu + offset, len))
		return false;
	for_each_clear_bit_from(i, map->written, offset + len)
		if (map->shadow[i] != map->cpu[i])
			return true;
	return false;
}

/*
 * Find the mapping for an access of the adapter. dma-api-howto.rst: a ULP need not return a buffer
 * that is mapped for DMA_FROM_DEVICE to the device, because the CPU does not write to it. So the
 * owner of such a buffer does not matter.
 */
static struct hca_map *hca_map_access(struct hca_dev *dev, u64 addr, u32 len,
				      bool write)
{
	const char *what = write ? "write" : "read";
	struct hca_map *map = hca_map_find(dev->dma, addr);
	u32 offset;

	if (!map) {
		hca_map_complain(HCA_UNMAPPED, map, what, addr, len);
		return NULL;
	}
	offset = addr - map->addr;
	if (len > map->len - offset) {
		hca_map_complain(HCA_BEYOND, map, what, addr, len);
		return NULL;
	}
	if (map->dir == (write ? DMA_TO_DEVICE : DMA_FROM_DEVICE)) {
		hca_map_complain(HCA_DIRECTION, map, what, addr, len);
		return NULL;
	}
	if (map->owned && map->dir != DMA_FROM_DEVICE &&
	    find_next_bit(map->owned, offset + len, offset) < offset + len)
		hca_map_complain(HCA_OWNER, map, what, addr, len);
	return map;
}

static int hca_map_read(struct hca_dev *dev, u64 addr, void *to, u32 len,
			enum hca_kind verify)
{
	struct hca_map *map;
	unsigned long flags;

	spin_lock_irqsave(&hca_maps_lock, flags);
	map = hca_map_access(dev, addr, len, false);
	if (map) {
		memcpy(to, (hca_coherent ? map->cpu : map->shadow) +
			   (addr - map->addr), len);
		if (verify != HCA_KIND_COUNT &&
		    hca_map_differs(map, addr - map->addr, len))
			hca_map_complain(verify, map, "read", addr, len);
	}
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	return map ? 0 : -EFAULT;
}

static int hca_map_write(struct hca_dev *dev, u64 addr, const void *from,
			 u32 len)
{
	struct hca_map *map;
	unsigned long flags;

	spin_lock_irqsave(&hca_maps_lock, flags);
	map = hca_map_access(dev, addr, len, true);
	if (map) {
		memcpy(map->shadow + (addr - map->addr), from, len);
		if (hca_coherent)
			memcpy(map->cpu + (addr - map->addr), from, len);
		else if (map->written)
			bitmap_set(map->written, addr - map->addr, len);
	}
	spin_unlock_irqrestore(&hca_maps_lock, flags);
	return map ? 0 : -EFAULT;
}

static void hca_map_hold(struct hca_dev *dev, u64 addr, int n)
{
	struct hca_map *map;
	unsigned long flags;

	spin_lock_irqsave(&hca_maps_lock, flags);
	/* If there is no such mapping, that is reported elsewhere. */
	map = hca_map_find(dev->dma, addr);
	if (map)
		map->users += n;
	spin_unlock_irqrestore(&hca_maps_lock, flags);
}

/**
 * hca_mem_show - show which mappings exist
 * @seq: file in debugfs
 *
 * Context: process
 */
void hca_mem_show(struct seq_file *seq)
{
	unsigned int shown = 0, i;
	struct hca_map *map;
	struct rb_node *node;

	spin_lock_irq(&hca_maps_lock);
	seq_printf(seq, "%lu\n", hca_maps_count);
	for (node = rb_first(&hca_maps); node && shown < HCA_SHOWN;
	     node = rb_next(node), shown++) {
		map = rb_entry(node, struct hca_map, node);
		seq_printf(seq, "%#llx %u %d", map->addr, map->len, map->dir);
		for (i = 0; i < map->depth; i++)
			seq_printf(seq, " %ps", (void *)map->stack[i]);
		seq_putc(seq, '\n');
	}
	spin_unlock_irq(&hca_maps_lock);
}

static struct device *hca_device_create(void)
{
	struct platform_device_info info = {
		.name = "hca_sim",
		.id = PLATFORM_DEVID_AUTO,
	};
	struct platform_device *pdev;
	int rc;

	/* Other kernels would ignore the operations. (Before 6.12, it is called CONFIG_DMA_OPS.) */
	if (!hca_direct && !IS_ENABLED(CONFIG_ARCH_HAS_DMA_OPS) &&
	    !IS_ENABLED(CONFIG_DMA_OPS))
		return ERR_PTR(-EOPNOTSUPP);
	pdev = platform_device_register_full(&info);
	if (IS_ERR(pdev))
		return ERR_CAST(pdev);
	if (!hca_direct)
		set_dma_ops(&pdev->dev, &hca_dma_ops);
	/* With the operations set, this also sees that syncs must not be left out. */
	rc = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (rc) {
		platform_device_unregister(pdev);
		return ERR_PTR(rc);
	}
	return &pdev->dev;
}

/**
 * hca_mem_attach - give an adapter access to memory
 * @dev: the adapter
 *
 * Context: process
 * Return: 0 or a negative errno
 */
int hca_mem_attach(struct hca_dev *dev)
{
	dev->dma = hca_device_create();
	return PTR_ERR_OR_ZERO(dev->dma);
}

/**
 * hca_mem_detach - undo hca_mem_attach()
 * @dev: the adapter
 *
 * Context: process
 */
void hca_mem_detach(struct hca_dev *dev)
{
	if (!IS_ERR_OR_NULL(dev->dma))
		platform_device_unregister(to_platform_device(dev->dma));
}

/**
 * hca_mem_read - the adapter reads memory
 * @dev: the adapter
 * @addr: DMA address
 * @to: where to store the data
 * @len: bytes
 * @verify: what to report if the CPU has written to the memory since it gave it to the adapter;
 *	HCA_KIND_COUNT if that does not matter
 *
 * Context: any
 * Return: 0, or -EFAULT if the adapter must not read this memory
 */
int hca_mem_read(struct hca_dev *dev, u64 addr, void *to, u32 len,
		 enum hca_kind verify)
{
	if (!hca_direct)
		return hca_map_read(dev, addr, to, len, verify);
	memcpy(to, phys_to_virt(addr), len);
	return 0;
}

/**
 * hca_mem_write - the adapter writes to memory
 * @dev: the adapter
 * @addr: DMA address
 * @from: the data
 * @len: bytes
 *
 * Context: any
 * Return: 0, or -EFAULT if the adapter must not write to this memory
 */
int hca_mem_write(struct hca_dev *dev, u64 addr, const void *from, u32 len)
{
	if (!hca_direct)
		return hca_map_write(dev, addr, from, len);
	memcpy(phys_to_virt(addr), from, len);
	return 0;
}

/**
 * hca_mem_hold - count requests that use a mapping
 * @dev: the adapter
 * @addr: DMA address
 * @n: 1 if a request was posted, -1 if the ULP knows that it is done
 *
 * Until then, the ULP must not unmap it.
 *
 * Context: any
 */
void hca_mem_hold(struct hca_dev *dev, u64 addr, int n)
{
	if (!hca_direct)
		hca_map_hold(dev, addr, n);
}
