# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Like dma.sh, but behind an emulated IOMMU, which ends the device's access when memory is unmapped.
# Guests: alone
# Limit: 2400
# Cmdline: ib_core.sw_dma=0000:00:0a.0 intel_iommu=on iommu.strict=1 iommu.passthrough=0
# Qemu: -device intel-iommu -device pci-testdev,addr=0xa
. "$TOP/scripts/tests/groups/dma.sh"
DMA_KIND=IOMMU
case_iommu-v1() { dma_v1; }
case_iommu-v2() { dma_v2; }
case_iommu-groups() { dma_groups; }
case_iommu-broken() { dma_broken; }
case_iommu-device() { dma_device; }
case_iommu-left() { dma_left; }
