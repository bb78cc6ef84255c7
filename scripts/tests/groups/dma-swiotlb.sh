# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Like dma.sh, but each mapping has a bounce buffer (swiotlb): without a sync, the device or the CPU sees old data.
# Guests: alone
# Limit: 2400
# Cmdline: ib_core.sw_dma=platform swiotlb=196608,force
. "$TOP/scripts/tests/groups/dma.sh"
DMA_KIND=swiotlb
case_swiotlb-v1() { dma_v1; }
case_swiotlb-v2() { dma_v2; }
case_swiotlb-groups() { dma_groups; }
case_swiotlb-broken() { dma_broken; }
case_swiotlb-device() { dma_device; }
case_swiotlb-left() { dma_left; }
