/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negotiation: what a client makes of the first answer on a connection.
 */
#ifndef RPCRDMA_NEGOTIATE_H
#define RPCRDMA_NEGOTIATE_H

#include <rpcrdma/wire.h>

/**
 * enum rpcrdma_nego - how to go on after a message that came while our first
 *	CONNPROP was unanswered
 * @RPCRDMA_NEGO_WAIT: it is no answer: drop it and wait on
 * @RPCRDMA_NEGO_V1: use version 1 on this connection
 * @RPCRDMA_NEGO_V2: use version 2 with the properties of the answer
 * @RPCRDMA_NEGO_V2_PLAIN: use version 2 with default properties
 * @RPCRDMA_NEGO_NONE: there is no version that both sides speak
 */
enum rpcrdma_nego {
	RPCRDMA_NEGO_WAIT,
	RPCRDMA_NEGO_V1,
	RPCRDMA_NEGO_V2,
	RPCRDMA_NEGO_V2_PLAIN,
	RPCRDMA_NEGO_NONE,
};

enum rpcrdma_nego rpcrdma_nego_answer(const struct rpcrdma_hdr *hdr,
				      enum rpcrdma_verdict verdict, u32 xid);

#endif /* RPCRDMA_NEGOTIATE_H */
