# SPDX-License-Identifier: GPL-2.0
# Build rpcrdma.ko for a kernel, install it, and run the tests. Kbuild lists the objects of the
# module. "make help" lists the targets: those marked with ## for users, and those marked with #-
# for developers.

ifneq ($(words $(CURDIR))$(findstring :,$(CURDIR)),1)
$(error The path "$(CURDIR)" has a space or a colon in it, and make cannot handle that: move this directory)
endif

.DEFAULT_GOAL := all
KREL ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KREL)/build
KO ?= rpcrdma.ko
MANDIR ?= /usr/local/share/man
SBINDIR ?= /usr/local/sbin
TOOLS := rpcrdma-check rpcrdma-stats

demo: ## see it work: a guest exports, mounts and copies over RDMA
	@scripts/demo

shell: ## a guest with a mount and a prompt (KERNEL= PROVIDER= VERS= VERBOSE=y)
	@scripts/lab/shell.sh

all: modules ## build rpcrdma.ko for KDIR (the running kernel)

# README lists the supported kernels.
ifeq ($(origin KDIR),file)
no-kdir = install the headers of that kernel, if it is one of those in README (Debian: linux-headers-$(KREL)), or say make KDIR=<headers of one>
else
no-kdir = KDIR is the directory with the headers of a kernel, or where it was built, such as /usr/src/linux-headers-<release>
endif

modules:
	@test -e $(KDIR)/include/config || { echo "No kernel build tree at $(KDIR): $(no-kdir)"; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) rpcrdma-version=$(shell scripts/package/version) modules

define install-tools
install -D -m 644 Documentation/rpcrdma.4 $(INSTALL_MOD_PATH)$(MANDIR)/man4/rpcrdma.4
install -D -m 755 -t $(INSTALL_MOD_PATH)$(SBINDIR) $(TOOLS:%=scripts/package/%)
install -D -m 644 -t $(INSTALL_MOD_PATH)$(MANDIR)/man8 $(TOOLS:%=Documentation/%.8)
endef
define remove-tools
@if scripts/package/in-use $(INSTALL_MOD_PATH); then echo "The tools stay: another rpcrdma.ko is installed."; else set -x; \
  rm -f $(INSTALL_MOD_PATH)$(MANDIR)/man4/rpcrdma.4 \
    $(TOOLS:%=$(INSTALL_MOD_PATH)$(SBINDIR)/%) $(TOOLS:%=$(INSTALL_MOD_PATH)$(MANDIR)/man8/%.8); fi
endef

install: ## copy rpcrdma.ko to /lib/modules/KREL/updates, where depmod prefers it, and the tools
	@test -e $(KO) || { echo "$(KO) is not built: make first"; exit 1; }
	@built=$$(PATH=$$PATH:/usr/sbin:/sbin modinfo -F vermagic $(KO) | cut -d' ' -f1); test "$$built" = "$(KREL)" || { \
	  echo "$(KO) is built for Linux $${built:-?}, not for $(KREL): make KREL=$(KREL) first, or make install KREL=$$built"; exit 1; }
	install -D -m 644 $(KO) $(INSTALL_MOD_PATH)/lib/modules/$(KREL)/updates/rpcrdma.ko
	$(install-tools)
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KREL)

uninstall: ## undo make install; modprobe then loads the module of the kernel again
	rm -f $(INSTALL_MOD_PATH)/lib/modules/$(KREL)/updates/rpcrdma.ko
	$(remove-tools)
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KREL)

dkms-install: ## have DKMS build and install it for KREL, and for each later kernel
	@scripts/package/dkms install $(KREL)
	$(install-tools)

dkms-uninstall: ## remove it from DKMS, for all kernels
	@scripts/package/dkms uninstall
	$(remove-tools)

deb: ## make the Debian package rpcrdma-dkms, in PKGDIR (here)
	@scripts/package/deb $(or $(PKGDIR),.)

rpm: ## make the RPM rpcrdma-dkms, in PKGDIR (here)
	@scripts/package/rpm $(or $(PKGDIR),.)

dist: ## pack what is committed into rpcrdma-<version>.tar.gz, in PKGDIR (here)
	@scripts/package/dist $(or $(PKGDIR),.)

clean: ## remove what a build left in the tree
	@if test -e $(KDIR)/include/config; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; else \
	  find net kunit -name '*.o' -delete -o -name '.*.cmd' -delete 2>/dev/null; \
	  rm -f *.o *.ko *.mod *.mod.c .*.cmd Module.symvers modules.order; fi
	@v=$$(scripts/package/version); rm -f rpcrdma-dkms_"$$v"_all.deb rpcrdma-dkms-"$$v"-1.noarch.rpm rpcrdma-"$$v".tar.gz

help: ## this list
	@echo "For users:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1:\2/p' Makefile | while IFS=: read -r t w; do printf '  %-21s%s\n' "$$t" "$$w"; done
	@echo "For developers:"
	@sed -n 's/^\([a-z-]*\):.*#- \(.*\)/make \1:\2/p' Makefile | while IFS=: read -r t w; do printf '  %-21s%s\n' "$$t" "$$w"; done

test: #- a choice of the tests in guests, on kernels of our own (KERNEL= PROVIDER= T= TURN=)
	@scripts/test

test-all: #- all tests in guests, fio included
	@scripts/test --all

test-race: #- connections, data and faults on a kernel with KCSAN (KERNEL=7.3)
	@CHECKERS=race KERNEL="$(or $(KERNEL),7.3)" GUEST_CPUS=2 scripts/test

test-memory: #- messages and data on a kernel with KMSAN (KERNEL=6.12)
	@CHECKERS=memory KERNEL="$(or $(KERNEL),6.12)" scripts/test

soak: #- many faults at once for an hour: MINUTES= (20) each on 7.3 with siw, 7.3 with rxe, 6.12 with rxe
	@SOAK=y ROUNDS=$(or $(MINUTES),20) T='$(or $(T),@(7.3/*|6.12/rxe)/soak)' scripts/test

check: #- style, sparse, warnings, kernel-doc, and which file may use which
	@scripts/check

fuzz: #- net/wire and net/core under libFuzzer, in user space (SECONDS=60)
	@scripts/ledger fuzz $(if $(TARGET)$(HEX),some,all) scripts/fuzz/run.sh $(or $(SECONDS),60)

mutants: #- would the unit tests notice if net/wire or net/core were broken? (FILES=)
	@scripts/ledger mutants $(if $(FILES),some,all) python3 scripts/mutants/run.py $(FILES)

mutants-guests: #- would the tests in guests notice if the rest of net/ were broken? (NAMES=)
	@scripts/ledger mutants-guests $(if $(NAMES),some,all) python3 scripts/mutants/guests.py $(NAMES)

bench: #- what an operation costs, compared with the in-tree module (PROVIDER=; CPUS=4: what sharing among processors costs)
	@scripts/bench

.PHONY: all modules install uninstall dkms-install dkms-uninstall deb rpm dist clean check fuzz mutants mutants-guests demo test test-all test-race test-memory soak bench shell help
