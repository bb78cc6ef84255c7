/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The differences between the versions of the protocol. Client and server treat both
 * versions alike, and call these functions where the versions differ. Only three of their
 * files compare a version with 1 or 2: those that negotiate a version (client/negotiate.c,
 * server/negotiate.c), and the one in which the server chooses a decoder
 * (server/recvfrom.c), because the decoders take different limits.
 *
 * There are two kinds of functions: those that return a property of a version, and those
 * that call the codec of the version. Each of them compares the version once. A table of
 * functions would cost an indirect call for each message.
 *
 * Some differences depend on the properties that a peer has announced in version 2. They
 * are not here, but are limits of the connection: struct rpcrdma_limits.
 *
 * The version of a connection is 0 until it is settled, see core/props.c.
 */
#ifndef RPCRDMA_VERS_H
#define RPCRDMA_VERS_H

#include <rpcrdma/wire.h>

/* Properties of a version */

/* Returns true if responses of this version have the flag F_RESPONSE. The sender of a message
 * without that flag has chosen the XID (version-two 3.2). Version 1 has no such flag: a message
 * that is not a Call is treated as a response.
 */
static inline bool rpcrdma_vers_marks_responses(u32 vers)
{
	return vers == RPCRDMA_VERS_2;
}

/* Returns true if errors have the codes of version-two 5.3.3. Version 1 has only ERR_CHUNK and
 * ERR_VERS. For version 0 (not settled yet), this also returns true.
 */
static inline bool rpcrdma_vers_has_codes(u32 vers)
{
	return vers != RPCRDMA_VERS_1;
}

/* Returns true if an RPC may be sent again in another form after an error (G-23). */
static inline bool rpcrdma_vers_can_retry(u32 vers)
{
	return vers == RPCRDMA_VERS_2;
}

/* Returns true if a Call names the handle that the Reply may invalidate (version-two 3.3). */
static inline bool rpcrdma_vers_names_handle(u32 vers)
{
	return vers == RPCRDMA_VERS_2;
}

/* Returns true if a server may require room for XDR roundup in a Write chunk (G-03). */
static inline bool rpcrdma_vers_wants_pad(u32 vers)
{
	return vers == RPCRDMA_VERS_1;
}

/* Returns true if a server uses a Reply chunk only when the Reply does not fit inline
 * (version-two 4.2.1; G-02).
 */
static inline bool rpcrdma_vers_spares_reply_chunk(u32 vers)
{
	return vers == RPCRDMA_VERS_2;
}

/* Returns whether a client asks, in each Call, for as many credits as it could use, and not for the
 * most that it could ever use (G-15).
 */
static inline bool rpcrdma_vers_asks_for_need(u32 vers)
{
	return vers == RPCRDMA_VERS_2;
}

/* Returns whether the message is a CONNPROP, which only announces properties (version-two
 * 5.3.4).
 */
static inline bool rpcrdma_is_connprop(u32 vers, const struct rpcrdma_hdr *hdr)
{
	return vers == RPCRDMA_VERS_2 && hdr->hd_proc == RPCRDMA2_CONNPROP;
}

/* Returns whether rdma_credit of a message is a grant. See rpcrdma2_is_grant(). */
static inline bool rpcrdma_is_grant(u32 vers, const struct rpcrdma_hdr *hdr,
				    enum rpcrdma_verdict verdict)
{
	if (vers == RPCRDMA_VERS_2)
		return rpcrdma2_is_grant(hdr, verdict);
	return verdict == RPCRDMA_OK;
}

/* Functions that call the codec of the version. See the codec of version 1 for details. */

/* Returns the size of a Reply's transport header. @lists are the lists of the Call. */
static inline u32 rpcrdma_reply_len(u32 vers, const struct rpcrdma_lists *lists)
{
	return rpcrdma_form_reply_len(lists) +
	       (vers == RPCRDMA_VERS_2 ? RPCRDMA2_LISTS_AT : RPCRDMA_FIXED_LEN);
}

static inline enum rpcrdma_verdict
rpcrdma_decode_reply(u32 vers, const void *buf, u32 len,
		     struct rpcrdma_hdr *hdr)
{
	if (vers == RPCRDMA_VERS_1)
		return rpcrdma1_decode_reply(buf, len, hdr);
	return rpcrdma2_decode_reply(buf, len, 0, hdr);
}

#endif /* RPCRDMA_VERS_H */
