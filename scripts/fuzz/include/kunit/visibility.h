/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's header of this name, as much of it as the pure rooms use. */
#ifndef FUZZ_KUNIT_VISIBILITY_H
#define FUZZ_KUNIT_VISIBILITY_H

#define EXPORT_SYMBOL_IF_KUNIT(symbol) extern typeof(symbol) symbol

#endif
