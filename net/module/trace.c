// SPDX-License-Identifier: GPL-2.0
/* Instantiates all trace events. No other file defines CREATE_TRACE_POINTS. */
#define CREATE_TRACE_POINTS
#include "../verbs/trace.h"
#include "../client/trace.h"
#include "../server/trace.h"
