// SPDX-License-Identifier: GPL-2.0
/*
 * rpcrdma_gpu - the stand-in for a GPU and for nvidia-fs, in tests without a GPU
 *
 * The "memory of the GPU" is ordinary pages. For each of them there is a placeholder, another page.
 * A process that wants to read a file into the memory of the GPU maps the placeholders of
 * /dev/rpcrdma_gpu, and passes them to direct I/O. This module registers functions that know the
 * placeholders, and that map the memory behind them for a device. If the CPU copies to or from
 * placeholders instead, the memory behind them does not change, or the wrong bytes are sent.
 *
 * The interface is declared here a second time, because nvidia-fs is not compiled with a header of
 * rpcrdma either. Only devices whose DMA addresses are those of the CPU can be used: siw and rxe.
 *
 * /dev/rpcrdma_gpu
 *	mmap	the placeholders first, and then the memory behind them; both have size bytes
 *	write	0 unregisters the functions, and returns when that is done; 1 registers them
 *	read	"maps N unmaps N errors N registered N"
 * Parameters
 *	size		bytes of memory
 *	features	the feature bits of the registered structure
 *	fail		this number of the next mappings fail
 *	blind		the functions take all pages for ordinary ones
 */
#include <linux/atomic.h>
#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

static unsigned long size = 4 << 20;
module_param(size, ulong, 0444);
static unsigned long long features = 0xfULL | 1ULL << 63;
module_param(features, ullong, 0444);
static atomic_t fail = ATOMIC_INIT(0);
module_param_named(fail, fail.counter, int, 0644);
static bool blind;
module_param(blind, bool, 0644);

struct gpu_ops {
	unsigned long long bits;
	void *blk_rq_map_sg;
	int (*map)(struct device *device, struct scatterlist *sg, int nents,
		   enum dma_data_direction dir, unsigned long attrs);
	int (*unmap)(struct device *device, struct scatterlist *sg, int nents,
		     enum dma_data_direction dir);
	bool (*is_gpu_page)(struct page *page);
	void *gpu_index;
	void *device_priority;
};

#define MAP_ERROR	(-1)
#define MAP_NOT_GPU	(-2)

/* The page behind each placeholder, by the number of the placeholder's frame */
static DEFINE_XARRAY(memory);
static struct page **placeholders;
static atomic_t maps, unmaps, errors;

static struct page *behind(struct page *page)
{
	return READ_ONCE(blind) ? NULL : xa_load(&memory, page_to_pfn(page));
}

static bool gpu_is_page(struct page *page)
{
	return behind(page);
}

static int gpu_map_all(struct scatterlist *sgl, int nents)
{
	struct scatterlist *sg;
	struct page *page;
	int i;

	for_each_sg(sgl, sg, nents, i) {
		page = behind(sg_page(sg));
		if (!page)
			return i ? MAP_ERROR : MAP_NOT_GPU;
		sg_dma_address(sg) = (uintptr_t)page_address(page) + sg->offset;
		sg_dma_len(sg) = sg->length;
	}
	return nents;
}

static int gpu_map(struct device *device, struct scatterlist *sgl, int nents,
		   enum dma_data_direction dir, unsigned long attrs)
{
	int rc = gpu_map_all(sgl, nents);

	if (rc == MAP_NOT_GPU)
		return rc;
	if (device || atomic_dec_if_positive(&fail) >= 0)
		rc = MAP_ERROR;
	atomic_inc(rc < 0 ? &errors : &maps);
	return rc;
}

static int gpu_unmap(struct device *device, struct scatterlist *sgl, int nents,
		     enum dma_data_direction dir)
{
	atomic_inc(&unmaps);
	return nents;
}

static struct gpu_ops gpu_ops = {
	.map = gpu_map,
	.unmap = gpu_unmap,
	.is_gpu_page = gpu_is_page,
};

/* --- registering ------------------------------------------------------------- */

static const char reg_name[] = "rpcrdma_register_nvfs_dma_ops";
static const char unreg_name[] = "rpcrdma_unregister_nvfs_dma_ops";
static int (*reg)(struct gpu_ops *ops);
static void (*unreg)(void);
static DEFINE_MUTEX(gpu_mutex);
static bool registered;

static int gpu_register(void)
{
	int rc = 0;

	mutex_lock(&gpu_mutex);
	if (!registered) {
		gpu_ops.bits = features;
		rc = reg(&gpu_ops);
	}
	if (!rc)
		registered = true;
	/* Only one module can be registered. */
	if (!rc && reg(&gpu_ops) != -EBUSY)
		rc = -ENOTRECOVERABLE;
	mutex_unlock(&gpu_mutex);
	return rc;
}

static void gpu_unregister(void)
{
	mutex_lock(&gpu_mutex);
	if (registered)
		unreg();
	registered = false;
	mutex_unlock(&gpu_mutex);
}

/* --- the device -------------------------------------------------------------- */

static vm_fault_t gpu_fault(struct vm_fault *vmf)
{
	unsigned long n = size >> PAGE_SHIFT, i = vmf->pgoff;
	struct page *page;

	if (i >= 2 * n)
		return VM_FAULT_SIGBUS;
	page = placeholders[i % n];
	if (i >= n)
		page = xa_load(&memory, page_to_pfn(page));
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct gpu_vm_ops = { .fault = gpu_fault };

static int gpu_mmap(struct file *file, struct vm_area_struct *vma)
{
	vma->vm_ops = &gpu_vm_ops;
	return 0;
}

static ssize_t gpu_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	char c;
	int rc = 0;

	if (!len || get_user(c, from))
		return -EFAULT;
	if (c == '1')
		rc = gpu_register();
	else
		gpu_unregister();
	return rc ?: len;
}

static ssize_t gpu_read(struct file *file, char __user *to, size_t len,
			loff_t *pos)
{
	char text[100];
	int n;

	n = scnprintf(text, sizeof(text),
		      "maps %d unmaps %d errors %d registered %d\n",
		      atomic_read(&maps), atomic_read(&unmaps),
		      atomic_read(&errors), READ_ONCE(registered));
	return simple_read_from_buffer(to, len, pos, text, n);
}

static const struct file_operations gpu_fops = {
	.owner = THIS_MODULE,
	.mmap = gpu_mmap,
	.read = gpu_read,
	.write = gpu_write,
};

static struct miscdevice gpu_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rpcrdma_gpu",
	.fops = &gpu_fops,
};

static void gpu_free(void)
{
	unsigned long i;
	struct page *page;

	xa_for_each(&memory, i, page)
		__free_page(page);
	xa_destroy(&memory);
	for (i = 0; i < size >> PAGE_SHIFT && placeholders; i++)
		if (placeholders[i])
			__free_page(placeholders[i]);
	kvfree(placeholders);
}

static int gpu_alloc(void)
{
	unsigned long i, n = size >> PAGE_SHIFT;
	struct page *page;

	placeholders = kvcalloc(n, sizeof(*placeholders), GFP_KERNEL);
	for (i = 0; i < n && placeholders; i++) {
		placeholders[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		page = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!placeholders[i] || !page ||
		    xa_err(xa_store(&memory, page_to_pfn(placeholders[i]),
				    page, GFP_KERNEL))) {
			if (page)
				__free_page(page);
			return -ENOMEM;
		}
	}
	return placeholders ? 0 : -ENOMEM;
}

static void gpu_put_symbols(void)
{
	if (reg)
		__symbol_put(reg_name);
	if (unreg)
		__symbol_put(unreg_name);
}

static int __init gpu_init(void)
{
	int rc = -ENOENT;

	reg = (void *)__symbol_get(reg_name);
	unreg = (void *)__symbol_get(unreg_name);
	if (reg && unreg)
		rc = gpu_alloc();
	if (!rc)
		rc = gpu_register();
	if (!rc)
		rc = misc_register(&gpu_device);
	if (rc) {
		gpu_unregister();
		gpu_free();
		gpu_put_symbols();
	}
	return rc;
}

static void __exit gpu_exit(void)
{
	misc_deregister(&gpu_device);
	gpu_unregister();
	gpu_free();
	gpu_put_symbols();
}

module_init(gpu_init);
module_exit(gpu_exit);
MODULE_DESCRIPTION("A GPU for tests of rpcrdma");
MODULE_LICENSE("GPL");
