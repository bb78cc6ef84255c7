// SPDX-License-Identifier: GPL-2.0
/*
 * rpcrdma_p2p - the driver of a device with peer-to-peer memory, and a user of it, in tests
 *
 * The device is QEMU's ivshmem-plain. Its BAR 2 is memory, which this module makes PCI peer-to-peer
 * memory (P2PDMA). NFS takes such pages only from users within the kernel. So this module reads and
 * writes files for a process: with direct I/O, and with pages of the device, or ordinary pages, or
 * both. QEMU's memory can be accessed by the CPU. If somebody copies to or from the pages, the data
 * arrive, and the test notices.
 *
 * /dev/rpcrdma_p2p
 *	pread, pwrite	the memory of the device, and behind it the ordinary memory; both have
 *			size bytes
 *	ioctl		read or write a file, see struct p2p_io; returns the number of bytes
 * Parameters
 *	size		bytes of either memory
 *	held		number of pages to which somebody holds a reference
 */
#include <linux/bvec.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#define P2P_BAR		2

static unsigned long size = 1 << 20;
module_param(size, ulong, 0444);

/*
 * @fd: file, opened for direct I/O
 * @write: 1 to write the file, 0 to read it; from its beginning
 * @length: number of bytes
 * @offset: where they begin in the first page
 * @from, @to: the pages with the numbers @from to @to - 1 are ordinary ones
 */
struct p2p_io {
	__s32 fd;
	__u32 write;
	__u32 length;
	__u32 offset;
	__u32 from;
	__u32 to;
};

#define P2P_IO		_IOW('p', 1, struct p2p_io)

static void *device_memory, *ordinary_memory;
/* References to a page that is not in use: one, or none with newer kernels */
static int idle_refs;

static struct page *p2p_page(void *memory, unsigned long i)
{
	return virt_to_page(memory + (i << PAGE_SHIFT));
}

/* --- reading and writing files ------------------------------------------------ */

static struct bio_vec *p2p_vector(const struct p2p_io *io, unsigned int n)
{
	struct bio_vec *vec = kvcalloc(n, sizeof(*vec), GFP_KERNEL);
	unsigned int i, offset = io->offset, left = io->length;
	void *memory;

	for (i = 0; i < n && vec; i++) {
		memory = i >= io->from && i < io->to ? ordinary_memory :
						       device_memory;
		bvec_set_page(&vec[i], p2p_page(memory, i),
			      min_t(unsigned int, left, PAGE_SIZE - offset),
			      offset);
		left -= vec[i].bv_len;
		offset = 0;
	}
	return vec;
}

static ssize_t p2p_do(const struct p2p_io *io, struct file *file)
{
	unsigned int n = DIV_ROUND_UP(io->offset + io->length, PAGE_SIZE);
	struct bio_vec *vec;
	struct iov_iter iter;
	loff_t pos = 0;
	ssize_t rc;

	vec = p2p_vector(io, n);
	if (!vec)
		return -ENOMEM;
	iov_iter_bvec(&iter, io->write ? ITER_SOURCE : ITER_DEST, vec, n,
		      io->length);
	rc = io->write ? vfs_iter_write(file, &iter, &pos, 0) :
			 vfs_iter_read(file, &iter, &pos, 0);
	kvfree(vec);
	return rc;
}

static long p2p_ioctl(struct file *device, unsigned int cmd, unsigned long arg)
{
	struct p2p_io io;
	struct file *file;
	ssize_t rc = -EINVAL;

	if (cmd != P2P_IO)
		return -ENOTTY;
	if (copy_from_user(&io, (void __user *)arg, sizeof(io)))
		return -EFAULT;
	if (io.offset >= PAGE_SIZE || !io.length ||
	    io.length > size - io.offset)
		return -EINVAL;
	file = fget(io.fd);
	if (!file)
		return -EBADF;
	if (file->f_flags & O_DIRECT)
		rc = p2p_do(&io, file);
	fput(file);
	return rc;
}

/* --- the memory --------------------------------------------------------------- */

/* Where is this position, and how many bytes of @len follow there? */
static void *p2p_at(loff_t pos, size_t *len)
{
	if (pos < 0 || pos >= 2 * size)
		*len = 0;
	else
		*len = min_t(size_t, *len, size - pos % size);
	return (pos < size ? device_memory : ordinary_memory) + pos % size;
}

static ssize_t p2p_read(struct file *file, char __user *to, size_t len,
			loff_t *pos)
{
	void *at = p2p_at(*pos, &len);

	if (copy_to_user(to, at, len))
		return -EFAULT;
	*pos += len;
	return len;
}

static ssize_t p2p_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	void *at = p2p_at(*pos, &len);

	if (copy_from_user(at, from, len))
		return -EFAULT;
	*pos += len;
	return len;
}

static const struct file_operations p2p_fops = {
	.owner = THIS_MODULE,
	.read = p2p_read,
	.write = p2p_write,
	.unlocked_ioctl = p2p_ioctl,
};

static struct miscdevice p2p_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "rpcrdma_p2p",
	.fops = &p2p_fops,
};

static int p2p_held(char *text, const struct kernel_param *param)
{
	unsigned long i;
	int n = 0;

	for (i = 0; i < size >> PAGE_SHIFT && device_memory; i++)
		n += page_count(p2p_page(device_memory, i)) != 1;
	return sysfs_emit(text, "%d\n", n);
}

static const struct kernel_param_ops p2p_held_ops = { .get = p2p_held };
module_param_cb(held, &p2p_held_ops, NULL, 0444);

/* Gives each page of the device one reference of ours, or as many as it had before. */
static void p2p_set_refs(int refs)
{
	unsigned long i;

	for (i = 0; i < size >> PAGE_SHIFT; i++)
		set_page_count(p2p_page(device_memory, i), refs);
}

/* --- the device --------------------------------------------------------------- */

static void p2p_free(struct pci_dev *pdev)
{
	if (device_memory) {
		p2p_set_refs(idle_refs);
		pci_free_p2pmem(pdev, device_memory, size);
	}
	device_memory = NULL;
	if (ordinary_memory)
		free_pages_exact(ordinary_memory, size);
	ordinary_memory = NULL;
}

static int p2p_alloc(struct pci_dev *pdev)
{
	ordinary_memory = alloc_pages_exact(size, GFP_KERNEL | __GFP_ZERO);
	if (!ordinary_memory)
		return -ENOMEM;
	device_memory = pci_alloc_p2pmem(pdev, size);
	if (!device_memory)
		return -ENOMEM;
	idle_refs = page_count(p2p_page(device_memory, 0));
	p2p_set_refs(1);
	return is_pci_p2pdma_page(p2p_page(device_memory, 0)) ? 0 : -EINVAL;
}

static int p2p_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int rc;

	if (device_memory)
		return -EBUSY;
	rc = pcim_enable_device(pdev);
	if (!rc)
		rc = pci_p2pdma_add_resource(pdev, P2P_BAR, 0, 0);
	if (rc)
		return rc;
	pci_p2pmem_publish(pdev, true);
	rc = p2p_alloc(pdev);
	if (!rc)
		rc = misc_register(&p2p_misc);
	if (rc)
		p2p_free(pdev);
	return rc;
}

static void p2p_remove(struct pci_dev *pdev)
{
	misc_deregister(&p2p_misc);
	p2p_free(pdev);
}

static const struct pci_device_id p2p_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT_QUMRANET, 0x1110) },
	{}
};

static struct pci_driver p2p_driver = {
	.name = "rpcrdma_p2p",
	.id_table = p2p_ids,
	.probe = p2p_probe,
	.remove = p2p_remove,
};

module_pci_driver(p2p_driver);
MODULE_DESCRIPTION("Peer-to-peer memory for tests of rpcrdma");
MODULE_LICENSE("GPL");
