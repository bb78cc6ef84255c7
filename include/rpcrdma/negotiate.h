/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Negotiation: how a client interprets the first answer on a connection.
 */
#ifndef RPCRDMA_NEGOTIATE_H
#define RPCRDMA_NEGOTIATE_H

#include <rpcrdma/wire.h>

/**
 * enum rpcrdma_negotiate - how to go on after a message that came before the version was
 *	settled
 * @RPCRDMA_NEGOTIATE_WAIT: the message is not the answer to our CONNPROP; wait for the answer
 * @RPCRDMA_NEGOTIATE_V1: use version 1 on this connection
 * @RPCRDMA_NEGOTIATE_V2: use version 2 with the properties of the answer
 * @RPCRDMA_NEGOTIATE_V2_PLAIN: use version 2 with default properties
 * @RPCRDMA_NEGOTIATE_NONE: the two sides have no version in common
 */
enum rpcrdma_negotiate {
	RPCRDMA_NEGOTIATE_WAIT,
	RPCRDMA_NEGOTIATE_V1,
	RPCRDMA_NEGOTIATE_V2,
	RPCRDMA_NEGOTIATE_V2_PLAIN,
	RPCRDMA_NEGOTIATE_NONE,
};

enum rpcrdma_negotiate
rpcrdma_negotiate_answer(const struct rpcrdma_hdr *hdr,
			 enum rpcrdma_verdict verdict, u32 xid);

#endif /* RPCRDMA_NEGOTIATE_H */
