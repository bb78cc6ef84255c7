// SPDX-License-Identifier: GPL-2.0
/* The one place where trace events become code. */
#define CREATE_TRACE_POINTS
#include <rpcrdma/trace_verbs.h>
#include <rpcrdma/trace_xprt.h>
#include <rpcrdma/trace_svc.h>
