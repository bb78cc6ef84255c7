// SPDX-License-Identifier: GPL-2.0
/* The one place where trace events become code. */
#define CREATE_TRACE_POINTS
#include "../verbs/trace.h"
#include "../client/trace.h"
#include "../server/trace.h"
