/* SPDX-License-Identifier: GPL-2.0 */
/* Replaces the kernel's header of this name. It has only what net/wire and net/core use. */
#ifndef FUZZ_KUNIT_VISIBILITY_H
#define FUZZ_KUNIT_VISIBILITY_H

#define EXPORT_SYMBOL_IF_KUNIT(symbol) extern typeof(symbol) symbol

#endif
