/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The wire: constants, decoded headers, and the functions of the codec.
 *
 * The code is plain C arithmetic on bytes. A decoded header is a *view*: it has pointers
 * into the buffer that it was decoded from, instead of copies of the segments. So it is valid
 * only until that buffer is freed or posted again.
 *
 * All values in the structures below are in host byte order. Only net/wire and functions of this
 * header handle the big-endian words of transport headers. For the layouts see RFC 8166 4 and
 * Documentation/wire.rst.
 *
 * Comments cite decisions (G-nn and T-nn: Documentation/decisions.rst), rules of the
 * round-trip extension (RTX-nn: rtx.rst) and specifications, whose short names
 * conformance.rst explains (rfc5666bis, version-two).
 */
#ifndef RPCRDMA_WIRE_H
#define RPCRDMA_WIRE_H

#include <linux/types.h>
#include <linux/unaligned.h>

#define RPCRDMA_VERS_1		1u
#define RPCRDMA_VERS_2		2u

/* Version 1 values of rdma_proc */
#define RPCRDMA1_MSG		0u
#define RPCRDMA1_NOMSG		1u
#define RPCRDMA1_MSGP		2u	/* reserved: never sent */
#define RPCRDMA1_DONE		3u	/* reserved: never sent */
#define RPCRDMA1_ERROR		4u

/* Version 1 values of rdma_err */
#define RPCRDMA1_ERR_VERS	1u
#define RPCRDMA1_ERR_CHUNK	2u

/* Version 2 values of rdma_htype. The first three have the same values in version 1. */
#define RPCRDMA2_MSG		0u
#define RPCRDMA2_NOMSG		1u
#define RPCRDMA2_ERROR		4u
#define RPCRDMA2_CONNPROP	5u

/* Version 2: the only bit of rdma_flags in use. Other bits are sent as 0 and ignored. */
#define RPCRDMA2_F_RESPONSE	0x00000001u

/* Version 2 values of rdma_err. The comment after a value lists its arguments, which are in
 * er_arg[0] and er_arg[1] of struct rpcrdma2_error.
 */
#define RPCRDMA2_ERR_VERS		1u	/* lowest, highest version */
#define RPCRDMA2_ERR_BAD_XDR		2u
#define RPCRDMA2_ERR_INVAL_HTYPE	3u
#define RPCRDMA2_ERR_READ_CHUNKS	4u	/* maximum number of Read chunks */
#define RPCRDMA2_ERR_WRITE_CHUNKS	5u	/* maximum number of Write chunks */
#define RPCRDMA2_ERR_SEGMENTS		6u	/* maximum segments in a chunk */
#define RPCRDMA2_ERR_WRITE_RESOURCE	7u	/* chunk, counted from 1; bytes needed */
#define RPCRDMA2_ERR_REPLY_RESOURCE	8u	/* bytes needed */
#define RPCRDMA2_ERR_SYSTEM		9u

/* Values of rdma_err for errors of the round-trip extension (RTX), see rtx.h. They have no
 * arguments.
 */
#define RPCRDMA2_ERR_RTX_CONT		0x80525401u	/* a group is broken */
#define RPCRDMA2_ERR_RTX_LIMIT		0x80525402u	/* a limit is exceeded */

/* Version 2: numbers of the properties, and values of the property BRS. The values of BRS mean: no
 * callbacks, only callbacks without chunks, and any callbacks.
 */
#define RPCRDMA2_PROPID_RBSIZ	1u
#define RPCRDMA2_PROPID_BRS	2u
#define RPCRDMA2_BRS_NONE	0u
#define RPCRDMA2_BRS_INLINE	1u
#define RPCRDMA2_BRS_GENL	2u

/* The property RTX of the round-trip extension, and bits of its first word */
#define RPCRDMA2_PROPID_RTX	0x80525401u
#define RPCRDMA2_RTX_F_RESULTS	0x00000001u
#define RPCRDMA2_RTX_F_SENDS	0x00000002u

/* Sizes on the wire, in bytes */
#define RPCRDMA_FIXED_LEN	16u	/* xid, vers, credit, proc */
#define RPCRDMA_CREDIT_AT	8u
#define RPCRDMA1_HDR_MIN	28u	/* MSG or NOMSG with three empty lists */
#define RPCRDMA1_ERR_CHUNK_LEN	20u
#define RPCRDMA1_ERR_VERS_LEN	28u
#define RPCRDMA2_PREFIX_LEN	20u	/* fixed words, rdma_flags */
#define RPCRDMA2_LISTS_AT	24u	/* prefix, rdma_inv_handle */
#define RPCRDMA2_HDR_MIN	36u	/* MSG or NOMSG with three empty lists */
#define RPCRDMA2_ERROR_LEN	24u	/* without the payload of the code */
#define RPCRDMA2_CONNPROP_MIN	24u	/* no properties */
#define RPCRDMA2_CONNPROP_MAX	1024u	/* what any peer can receive (G-19) */
#define RPCRDMA_PLAIN_SEG_LEN	16u
#define RPCRDMA_SEG_LENGTH	4u	/* where in a segment its length is */
#define RPCRDMA_SEG_OFFSET	8u
#define RPCRDMA_READ_SEG_LEN	24u	/* item-follows word, position, segment */
#define RPCRDMA_CHUNK_LEN	8u	/* item-follows word and segment count */

/* Limits of what our decoders accept. The protocol has no such limits (G-32). */
#define RPCRDMA_MAX_CHUNKS	16u	/* chunks in a list */
#define RPCRDMA_MAX_SEGS	64u	/* segments in a chunk */

/* Values of msg_type, the word after the XID of an RPC message (RFC 5531) */
#define RPCRDMA_RPC_CALL	0u
#define RPCRDMA_RPC_REPLY	1u

/**
 * struct rpcrdma_segment - one registered piece of memory: the peer's if the segment was
 *	received, and ours if it is to be sent
 * @rs_handle: steering tag (R_key)
 * @rs_length: length in bytes
 * @rs_offset: address of the first byte within the tag's address space. A received address may
 *	have any value: nothing is assumed about it (RFC 8166 4.4.3)
 */
struct rpcrdma_segment {
	u32		rs_handle;
	u32		rs_length;
	u64		rs_offset;
};

/**
 * struct rpcrdma_chunk - a received chunk; it points to its segments in the received header
 * @ck_segs: first segment in the received header; for the codec only
 * @ck_position: for a Read chunk, the offset in the unreduced RPC message (G-04)
 * @ck_length: sum of the segment lengths; the decoder has checked it for overflow
 * @ck_nsegs: number of segments; 0 for an absent or empty chunk
 *
 * Walk the segments with rpcrdma_chunk_first() and rpcrdma_chunk_next().
 */
struct rpcrdma_chunk {
	const void	*ck_segs;
	u32		ck_position;
	u32		ck_length;
	u32		ck_nsegs;
};

/**
 * struct rpcrdma_lists - the three chunk lists of a received header
 * @ls_read_end: end of the Read list in the received header; for the codec only
 * @ls_call: the Position Zero chunk; its ck_nsegs is 0 if there is none
 * @ls_reply: the Reply chunk, valid if @ls_has_reply
 * @ls_nreads: number of entries used in @ls_read
 * @ls_nwrites: number of entries used in @ls_write
 * @ls_has_reply: a Reply chunk is present
 * @ls_read: Read chunks with a non-zero position, in ascending order of position
 * @ls_write: the Write list, in the order received
 */
struct rpcrdma_lists {
	const void		*ls_read_end;
	struct rpcrdma_chunk	ls_call;
	struct rpcrdma_chunk	ls_reply;
	u32			ls_nreads;
	u32			ls_nwrites;
	bool			ls_has_reply;
	struct rpcrdma_chunk	ls_read[RPCRDMA_MAX_CHUNKS];
	struct rpcrdma_chunk	ls_write[RPCRDMA_MAX_CHUNKS];
};

/**
 * rpcrdma_lists_empty - tell whether a header has no chunks
 * @lists: the lists of the header
 *
 * Context: any.
 * Return: true if all lists are empty.
 */
static inline bool rpcrdma_lists_empty(const struct rpcrdma_lists *lists)
{
	return !lists->ls_call.ck_nsegs && !lists->ls_nreads &&
	       !lists->ls_nwrites && !lists->ls_has_reply;
}

/**
 * enum rpcrdma2_prop - the known properties that have a single value, as indices
 * @RPCRDMA2_PROP_RBSIZ: minimum size of the sender's Receives in bytes
 * @RPCRDMA2_PROP_BRS: which backward Calls, or which Replies to them, the sender accepts:
 *	one of RPCRDMA2_BRS_*
 * @RPCRDMA2_NPROPS: number of these properties
 */
enum rpcrdma2_prop {
	RPCRDMA2_PROP_RBSIZ,
	RPCRDMA2_PROP_BRS,
	RPCRDMA2_NPROPS,
};

/**
 * struct rpcrdma2_rtx - the property RTX: what an endpoint supports of the round-trip
 *	extension (rtx.h)
 * @xp_flags: RPCRDMA2_RTX_F_RESULTS: as a responder, the endpoint places results if the Call
 *	allows that. RPCRDMA2_RTX_F_SENDS: as a requester, it may send Calls as groups
 * @xp_call_max: maximum number of transmissions in a Call that the endpoint accepts; 0 if it
 *	accepts no Calls as groups
 * @xp_reply_max: maximum number of transmissions in a Reply that the endpoint sends; 0 if it
 *	sends no Replies as groups
 * @xp_msg_max: maximum number of bytes of stream and items together in a Call that is sent to
 *	the endpoint as a group
 * @xp_head: number of bytes before the first target segment of each of its Receives
 * @xp_seg: size of a target segment in bytes, a power of two
 * @xp_nsegs: number of target segments in each Receive; 0 if there are none, and @xp_head
 *	and @xp_seg are then 0, too
 *
 * All members are 0 for an endpoint without the extension. That is the default.
 */
struct rpcrdma2_rtx {
	u32		xp_flags;
	u32		xp_call_max;
	u32		xp_reply_max;
	u32		xp_msg_max;
	u32		xp_head;
	u32		xp_seg;
	u32		xp_nsegs;
};

/* Bit number of the property RTX in vp_given. This property has no entry in vp_value. */
#define RPCRDMA2_PROP_RTX	RPCRDMA2_NPROPS

/**
 * struct rpcrdma2_props - a set of properties
 * @vp_value: value of each enum rpcrdma2_prop; the default if the set does not have it
 * @vp_given: in a received set, bit N is set if the set has property N
 * @vp_unknown: in a received set, the number of unknown properties, which were skipped
 * @vp_rtx: value of the property RTX, which is sent unless it is all zero
 */
struct rpcrdma2_props {
	u32			vp_value[RPCRDMA2_NPROPS];
	u32			vp_given;
	u32			vp_unknown;
	struct rpcrdma2_rtx	vp_rtx;
};

/**
 * struct rpcrdma2_error - the content of a version 2 error
 * @er_code: one of RPCRDMA2_ERR_*, or a code of an extension
 * @er_arg: arguments of the code, see RPCRDMA2_ERR_*; unused ones are 0
 */
struct rpcrdma2_error {
	u32		er_code;
	u32		er_arg[2];
};

/**
 * struct rpcrdma_hdr - a received transport header
 * @hd_xid: rdma_xid
 * @hd_vers: rdma_vers
 * @hd_credit: rdma_credit, as received; see credit.h before using it
 * @hd_proc: rdma_proc, or rdma_htype
 * @hd_err: rdma_err, for RPCRDMA1_ERROR and RPCRDMA2_ERROR
 * @hd_err_arg: arguments of @hd_err, as in er_arg; version 1 has only those of ERR_VERS
 * @hd_response: version 2: F_RESPONSE or @hd_v1_error is set. This means that the receiver of
 *	the message has chosen the XID, and never answers the message. Always false in version 1.
 * @hd_v1_error: version 2: the message is an error in the layout of version 1
 * @hd_inv_handle: version 2 Calls: a handle of this header that the Reply may
 *	invalidate, or 0
 * @hd_inv_stray: version 2 Calls: the value of rdma_inv_handle if no segment has that handle,
 *	and it is therefore ignored (G-22); otherwise 0
 * @hd_props: properties of an RPCRDMA2_CONNPROP; all defaults if the set is invalid. All zero in
 *	other messages
 * @hd_length: length of the transport header in bytes; the RPC message begins there
 * @hd_msg_len: number of bytes of the RPC message that follow the header inline; in a group
 *	(rtx.h), those in its first transmission
 * @hd_rpc_xid: XID of the inline RPC message, if @hd_msg_len is 4 or more
 * @hd_rpc_type: msg_type of the inline RPC message, if @hd_msg_len is 8 or more
 * @hd_lists: the chunk lists; empty for messages that have none
 */
struct rpcrdma_hdr {
	u32			hd_xid;
	u32			hd_vers;
	u32			hd_credit;
	u32			hd_proc;
	u32			hd_err;
	u32			hd_err_arg[2];
	bool			hd_response;
	bool			hd_v1_error;
	u32			hd_inv_stray;
	u32			hd_inv_handle;
	struct rpcrdma2_props	hd_props;
	u32			hd_length;
	u32			hd_msg_len;
	u32			hd_rpc_xid;
	u32			hd_rpc_type;
	struct rpcrdma_lists	hd_lists;
};

/**
 * enum rpcrdma_verdict - the codec's verdict on a received message
 * @RPCRDMA_OK: well formed; go on
 * @RPCRDMA_DISCARD_SHORT: too short to trust any field: drop, no answer (G-10)
 * @RPCRDMA_DISCARD_DONE: RDMA_DONE: drop (RFC 8166 4.6.2)
 * @RPCRDMA_DISCARD_ERROR: version 1: a server received an error: end the callback with this XID; if
 *	there is none, drop (RFC 8166 4.2.4; G-24). Version 2: an error without F_RESPONSE, or a
 *	server received an error of another version: drop
 * @RPCRDMA_BACKWARD_CALL: a client received a callback; or, in version 2, a CONNPROP that is
 *	not an answer
 * @RPCRDMA_BACKWARD_REPLY: a server received a Reply to a callback; or, in version 2, another
 *	response: an error, or the answer to a CONNPROP
 * @RPCRDMA_BAD_VERS: a version that is not supported, or not that of the connection: a server
 *	answers ERR_VERS (RFC 8166 4.5.1)
 * @RPCRDMA_BAD_PROC: unknown rdma_proc or rdma_htype
 * @RPCRDMA_BAD_LIST: the header or one of its lists is truncated; a word that tells whether
 *	optional data follows is not 0 or 1; or there are too many items (rtx.h)
 * @RPCRDMA_MANY_READS: more Read chunks than are accepted (G-32)
 * @RPCRDMA_MANY_WRITES: more Write chunks than are accepted (G-32)
 * @RPCRDMA_MANY_SEGS: a chunk with more segments than are accepted (G-32)
 * @RPCRDMA_BAD_COUNT: the chunks or segments of a Reply are not those that were offered, or a
 *	header has more of them than can be processed
 * @RPCRDMA_BAD_LENGTH: the segment lengths of a chunk overflow; a Call is longer than is accepted;
 *	a segment of a Reply is longer than was offered; or in a Reply, data follows a segment
 *	that is not full
 * @RPCRDMA_BAD_POSITION: a Read chunk or an item (rtx.h) begins at an unaligned position, beyond
 *	the message, or inside the chunk or item before it; or an item is empty, or begins in the
 *	first 8 bytes of the message
 * @RPCRDMA_BAD_FORM: the message has a chunk that it must not have; or the chunk that it needs is
 *	missing or too short (G-01, G-09)
 * @RPCRDMA_BAD_XID: header and RPC message have different XIDs, or the RPC message that the server
 *	has read by RDMA is not a Call
 * @RPCRDMA_BAD_DIRECTION: F_RESPONSE contradicts msg_type (G-21)
 * @RPCRDMA_BAD_MSG: the inline RPC message is missing or, at a server, is not a Call; bytes follow
 *	a header that has no inline message; an error has the wrong number of words; words in the
 *	header of a group have impossible values; or the Reply to a callback is a group
 * @RPCRDMA_BAD_PROP: a property set that cannot be used (G-18)
 * @RPCRDMA_BAD_GROUP: a group whose transmissions do not form a message (RTX-50), or a Reply
 *	that is a group although its Call was not
 * @RPCRDMA_BIG_GROUP: a group of more transmissions or bytes than the receiver has announced
 *	or offered (RTX-50)
 *
 * Version 1: if the verdict is %RPCRDMA_BAD_PROC or a later one, a responder answers
 * with ERR_CHUNK. After these verdicts and %RPCRDMA_BAD_VERS, a requester ends the RPC with an
 * error if it knows the XID (G-12).
 *
 * Version 2: if the verdict is %RPCRDMA_BAD_VERS or a later one, rpcrdma2_refusal()
 * determines the answer. If that function returns false, the message is a response: it is not
 * answered, and the RPC with its XID ends with an error. There is one exception: a client
 * drops a message with %RPCRDMA_BAD_VERS.
 */
enum rpcrdma_verdict {
	RPCRDMA_OK = 0,
	RPCRDMA_DISCARD_SHORT,
	RPCRDMA_DISCARD_DONE,
	RPCRDMA_DISCARD_ERROR,
	RPCRDMA_BACKWARD_CALL,
	RPCRDMA_BACKWARD_REPLY,
	RPCRDMA_BAD_VERS,
	RPCRDMA_BAD_PROC,
	RPCRDMA_BAD_LIST,
	RPCRDMA_MANY_READS,
	RPCRDMA_MANY_WRITES,
	RPCRDMA_MANY_SEGS,
	RPCRDMA_BAD_COUNT,
	RPCRDMA_BAD_LENGTH,
	RPCRDMA_BAD_POSITION,
	RPCRDMA_BAD_FORM,
	RPCRDMA_BAD_XID,
	RPCRDMA_BAD_DIRECTION,
	RPCRDMA_BAD_MSG,
	RPCRDMA_BAD_PROP,
	RPCRDMA_BAD_GROUP,
	RPCRDMA_BIG_GROUP,
};

/* Flag of rpcrdma2_decode_reply(): the version is not settled yet, because our CONNPROP has not
 * been answered (G-11)
 */
#define RPCRDMA2_NEGOTIATING	0x1u

/**
 * struct rpcrdma2_accept - what a version 2 responder accepts
 * @ac_vers_low: lowest version to name in ERR_VERS
 * @ac_vers_high: highest version to name in ERR_VERS; 0 if ERR_VERS is not sent. On a server,
 *	both members are the version of the connection once that is settled (G-20).
 * @ac_reads: maximum number of Read chunks in a Call, not counting the Position Zero
 *	chunk
 * @ac_writes: maximum number of Write chunks in a Call
 * @ac_segs: maximum number of segments in a chunk
 * @ac_inline_only: no chunks are accepted; set for backward Calls, see BRS (version-two
 *	5.3.3)
 *
 * The maximum numbers are also bounded by %RPCRDMA_MAX_CHUNKS and %RPCRDMA_MAX_SEGS. The decoder
 * counts the Position Zero chunk as one of %RPCRDMA_MAX_CHUNKS (G-23, G-32).
 */
struct rpcrdma2_accept {
	u32		ac_vers_low;
	u32		ac_vers_high;
	u32		ac_reads;
	u32		ac_writes;
	u32		ac_segs;
	bool		ac_inline_only;
};

/**
 * struct rpcrdma_chunk_out - a chunk to be sent
 * @co_segs: segments of the chunk
 * @co_position: for a Read chunk, the offset in the unreduced RPC message
 * @co_nsegs: number of segments; never 0 (G-05)
 */
struct rpcrdma_chunk_out {
	const struct rpcrdma_segment	*co_segs;
	u32				co_position;
	u32				co_nsegs;
};

/**
 * struct rpcrdma_call_out - a Call header to be sent
 * @ko_xid: XID of the RPC
 * @ko_credit: number of credits requested; 0 is sent as 1
 * @ko_proc: %RPCRDMA1_MSG or %RPCRDMA1_NOMSG
 * @ko_nreads: number of entries in @ko_read
 * @ko_nwrites: number of entries in @ko_write
 * @ko_read: Read chunks in ascending order of position, so Position Zero is first
 * @ko_write: the Write list
 * @ko_reply: the Reply chunk, or NULL
 * @ko_inv_handle: version 2: handle of a segment in these chunks that the peer may
 *	invalidate with the Reply, or 0
 */
struct rpcrdma_call_out {
	u32				ko_xid;
	u32				ko_credit;
	u32				ko_proc;
	u32				ko_nreads;
	u32				ko_nwrites;
	const struct rpcrdma_chunk_out	*ko_read;
	const struct rpcrdma_chunk_out	*ko_write;
	const struct rpcrdma_chunk_out	*ko_reply;
	u32				ko_inv_handle;
};

/**
 * struct rpcrdma_reply_out - a Reply header to be sent
 * @ro_xid: XID of the RPC
 * @ro_credit: number of credits granted; 0 is sent as 1 (RFC 8166 3.3.1)
 * @ro_proc: %RPCRDMA1_MSG or %RPCRDMA1_NOMSG
 * @ro_lists: the Call's lists; the Reply returns its Write list and its Reply chunk
 * @ro_written: number of bytes written to each of the Call's Write chunks
 * @ro_reply_written: number of bytes written to the Call's Reply chunk
 */
struct rpcrdma_reply_out {
	u32				ro_xid;
	u32				ro_credit;
	u32				ro_proc;
	const struct rpcrdma_lists	*ro_lists;
	const u32			*ro_written;
	u32				ro_reply_written;
};

/**
 * struct rpcrdma_seg_iter - a walk over one chunk's segments
 * @it_pos: next segment in the received header; for the codec only
 * @it_end: for a Read chunk, end of the Read list; NULL for other chunks, which are counted
 *	arrays of segments
 * @it_position: for a Read chunk, the position of its segments
 * @it_left: number of segments not visited yet
 */
struct rpcrdma_seg_iter {
	const void	*it_pos;
	const void	*it_end;
	u32		it_position;
	u32		it_left;
};

/* wire/lists.c */
bool rpcrdma_wire_peek_vers(const void *buf, u32 len, u32 *vers);
enum rpcrdma_verdict rpcrdma_wire_decode_lists(const void *buf, u32 len,
					       u32 *offset,
					       struct rpcrdma_lists *lists);
bool rpcrdma_chunk_next_read(struct rpcrdma_seg_iter *iter,
			     struct rpcrdma_segment *seg);
u32 rpcrdma_wire_lists_len(u32 nreadsegs, u32 nwrites, u32 nwritesegs,
			   u32 nreplysegs);

/**
 * rpcrdma_chunk_first - begin a walk over a chunk's segments
 * @lists: decoded lists
 * @chunk: one of the chunks in @lists, not a copy of one
 * @iter: OUT: the walk
 *
 * The address of @chunk tells whether it is one of the Read chunks of @lists. The segments of
 * a Read chunk are entries of the Read list, and entries of other chunks may be between them.
 * The segments of a Write or Reply chunk are consecutive in an array.
 *
 * Context: any; the buffer from which @lists was decoded must still be valid.
 */
static inline void rpcrdma_chunk_first(const struct rpcrdma_lists *lists,
				       const struct rpcrdma_chunk *chunk,
				       struct rpcrdma_seg_iter *iter)
{
	bool read = chunk == &lists->ls_call ||
		    (chunk >= lists->ls_read &&
		     chunk < lists->ls_read + RPCRDMA_MAX_CHUNKS);

	iter->it_pos = chunk->ck_segs;
	iter->it_end = read ? lists->ls_read_end : NULL;
	iter->it_position = chunk->ck_position;
	iter->it_left = chunk->ck_nsegs;
}

/* For the codec only: decodes a segment */
static inline void rpcrdma_chunk_get_seg(const u8 *pos,
					 struct rpcrdma_segment *seg)
{
	seg->rs_handle = get_unaligned_be32(pos);
	seg->rs_length = get_unaligned_be32(pos + RPCRDMA_SEG_LENGTH);
	seg->rs_offset = get_unaligned_be64(pos + RPCRDMA_SEG_OFFSET);
}

/**
 * rpcrdma_chunk_next - take the next segment of a chunk
 * @iter: the walk, from rpcrdma_chunk_first()
 * @seg: OUT: the segment, if true is returned
 *
 * Context: any; the buffer from which the chunk was decoded must still be valid.
 * Return: false if there is no further segment.
 */
static inline bool rpcrdma_chunk_next(struct rpcrdma_seg_iter *iter,
				      struct rpcrdma_segment *seg)
{
	if (!iter->it_left)
		return false;
	if (iter->it_end)
		return rpcrdma_chunk_next_read(iter, seg);
	rpcrdma_chunk_get_seg(iter->it_pos, seg);
	iter->it_pos += RPCRDMA_PLAIN_SEG_LEN;
	iter->it_left--;
	return true;
}

/**
 * rpcrdma_wire_set_credit - change the credit value of an encoded message
 * @buf: message
 * @credit: rdma_credit
 *
 * Context: any.
 * Return: false if the message has this value already.
 */
static inline bool rpcrdma_wire_set_credit(void *buf, u32 credit)
{
	void *word = buf + RPCRDMA_CREDIT_AT;

	if (get_unaligned_be32(word) == credit)
		return false;
	put_unaligned_be32(credit, word);
	return true;
}

/* wire/form.c */
u32 rpcrdma_form_reply_len(const struct rpcrdma_lists *lists);
int rpcrdma_encode_call(u32 vers, void *buf, u32 size,
			const struct rpcrdma_call_out *call);
int rpcrdma_encode_reply(u32 vers, void *buf, u32 size,
			 const struct rpcrdma_reply_out *reply);

/* wire/v1.c */
enum rpcrdma_verdict rpcrdma1_decode_call(const void *buf, u32 len,
					  struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma1_decode_reply(const void *buf, u32 len,
					   struct rpcrdma_hdr *hdr);

/* wire/v2.c */
extern const struct rpcrdma2_accept rpcrdma2_accept_backward;
enum rpcrdma_verdict rpcrdma2_decode_call(const void *buf, u32 len,
					  const struct rpcrdma2_accept *accept,
					  struct rpcrdma_hdr *hdr);
enum rpcrdma_verdict rpcrdma2_decode_reply(const void *buf, u32 len,
					   unsigned int flags,
					   struct rpcrdma_hdr *hdr);
bool rpcrdma2_is_grant(const struct rpcrdma_hdr *hdr,
		       enum rpcrdma_verdict verdict);

/* wire/v2_error.c */
bool rpcrdma2_refusal(const struct rpcrdma_hdr *hdr,
		      enum rpcrdma_verdict verdict,
		      const struct rpcrdma2_accept *accept,
		      struct rpcrdma2_error *error);
int rpcrdma_encode_error(u32 vers, void *buf, u32 size,
			 const struct rpcrdma_hdr *hdr, u32 credit,
			 const struct rpcrdma2_error *error);

/* wire/v2_props.c */
void rpcrdma2_props_default(struct rpcrdma2_props *props);
int rpcrdma2_encode_connprop(void *buf, u32 size, u32 xid, u32 credit,
			     bool response,
			     const struct rpcrdma2_props *props);

#endif /* RPCRDMA_WIRE_H */
