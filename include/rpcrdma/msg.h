/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received message: the Receives in which it came, its header and its body. Client and
 * server read received data only through the functions of this file. Neither of them uses the
 * members of struct rpcrdma_recv, or knows in which Receive a part of a message is.
 */
#ifndef RPCRDMA_MSG_H
#define RPCRDMA_MSG_H

#include <linux/container_of.h>
#include <linux/string.h>
#include <rpcrdma/recv.h>

/**
 * struct rpcrdma_msg_piece - a walk over part of a body
 * @mp_data: the present piece
 * @mp_len: number of bytes in the present piece; 0 if there is none
 * @mp_left: number of bytes after the present piece that are still to be visited
 * @mp_in: message structure of the Receive that contains the present piece; set only if the
 *	body is in several Receives
 *
 * Begin with rpcrdma_msg_piece_first(), go on with rpcrdma_msg_piece_next().
 */
struct rpcrdma_msg_piece {
	void				*mp_data;
	u32				mp_len;
	u32				mp_left;
	const struct rpcrdma_msg_in	*mp_in;
};

/* verbs/gather.c */
void rpcrdma_msg_give_more(struct rpcrdma_msg_in *msg,
			   void (*give)(struct rpcrdma_recv *recv));
int rpcrdma_msg_renew(struct rpcrdma_msg_in *msg);
void rpcrdma_msg_piece_seek(const struct rpcrdma_msg_in *msg, u32 skip,
			    struct rpcrdma_msg_piece *piece);
void rpcrdma_msg_copy_pieces(const struct rpcrdma_msg_in *msg, u32 offset,
			     void *to, u32 len);
u32 rpcrdma_msg_data_npages(const struct rpcrdma_msg_in *msg);
void rpcrdma_msg_data_pages(const struct rpcrdma_msg_in *msg,
			    struct page **pages);
void *rpcrdma_msg_data_at(const struct rpcrdma_msg_in *msg, u32 offset,
			  u32 *len);

/* The first Receive of a message. Only this file and net/verbs use it. */
#define rpcrdma_msg_first(msg) \
	container_of_const(msg, struct rpcrdma_recv, rv_msg)

/* Number of Receives in which the message came */
static inline u32 rpcrdma_msg_recvs(const struct rpcrdma_msg_in *msg)
{
	return 1 + msg->mi_more_recvs;
}

/* The ID of the message in trace events: the completion ID of its first Receive */
static inline const struct rpcrdma_cid *
rpcrdma_msg_cid(const struct rpcrdma_msg_in *msg)
{
	return &rpcrdma_msg_first(msg)->rv_cid;
}

/* Number of bytes received in all Receives of the message, including transport headers */
static inline u32 rpcrdma_msg_len(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_len + msg->mi_more_len;
}

/* Address of the transport header, all of which is in the first Receive. In a group (rtx.h), each
 * further Receive begins with a header of its own, which only verbs/gather.c reads.
 */
static inline const void *rpcrdma_msg_head(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_buf.bf_data;
}

/* Number of bytes received in the first Receive, including the header */
static inline u32 rpcrdma_msg_head_room(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_len;
}

/**
 * rpcrdma_msg_set_body - record where the body begins
 * @msg: message whose header has been decoded. For each further Receive of a message,
 *	verbs/gather.c passes the structure of that Receive.
 * @offset: number of bytes in the header, at most rpcrdma_msg_head_room()
 * @len: number of bytes of the body in this Receive
 *
 * Context: any; the caller owns the message.
 */
static inline void rpcrdma_msg_set_body(struct rpcrdma_msg_in *msg, u32 offset,
					u32 len)
{
	msg->mi_body = rpcrdma_msg_first(msg)->rv_buf.bf_data + offset;
	msg->mi_here = len;
}

/* Returns whether the message came as a group (rtx.h), which takes one Receive or several.
 * rpcrdma2_decode_group() decodes the header of a group.
 */
static inline bool rpcrdma_msg_is_group(const struct rpcrdma_msg_in *msg)
{
	return unlikely(msg->mi_group);
}

/* Number of bytes in the body. Valid after rpcrdma_msg_set_body(). */
static inline u32 rpcrdma_msg_body_len(const struct rpcrdma_msg_in *msg)
{
	return msg->mi_here + msg->mi_more_body;
}

/* Is the whole body in the first Receive, and so in one piece? */
static inline bool rpcrdma_msg_is_flat(const struct rpcrdma_msg_in *msg)
{
	return likely(!msg->mi_more_body);
}

/* Address of the body, or of its first piece if it has several */
static inline void *rpcrdma_msg_body(const struct rpcrdma_msg_in *msg)
{
	return msg->mi_body;
}

/**
 * rpcrdma_msg_piece_first - begin a walk over part of a body
 * @msg: message
 * @offset: offset of the part in the body
 * @len: number of bytes in the part, which must be inside the body
 * @piece: set to the first piece; mp_len is 0 if @len is 0
 *
 * Context: any, until the message is given back.
 */
static inline void rpcrdma_msg_piece_first(const struct rpcrdma_msg_in *msg,
					   u32 offset, u32 len,
					   struct rpcrdma_msg_piece *piece)
{
	if (unlikely(!rpcrdma_msg_is_flat(msg))) {
		piece->mp_left = len;
		rpcrdma_msg_piece_seek(msg, offset, piece);
		return;
	}
	piece->mp_data = msg->mi_body + offset;
	piece->mp_len = len;
	piece->mp_left = 0;
}

/**
 * rpcrdma_msg_piece_next - go on to the next piece
 * @piece: the walk; mp_len is set to 0 if there is no further piece
 *
 * Context: any, until the message is given back.
 */
static inline void rpcrdma_msg_piece_next(struct rpcrdma_msg_piece *piece)
{
	piece->mp_len = 0;
	if (unlikely(piece->mp_left))
		rpcrdma_msg_piece_seek(piece->mp_in, piece->mp_in->mi_here,
				       piece);
}

/**
 * rpcrdma_msg_copy - copy part of a body
 * @msg: message
 * @offset: offset of the part in the body
 * @to: where to copy to
 * @len: number of bytes, all inside the body
 *
 * Context: any, until the message is given back.
 */
static inline void rpcrdma_msg_copy(const struct rpcrdma_msg_in *msg,
				    u32 offset, void *to, u32 len)
{
	if (rpcrdma_msg_is_flat(msg))
		memcpy(to, msg->mi_body + offset, len);
	else
		rpcrdma_msg_copy_pieces(msg, offset, to, len);
}

/**
 * rpcrdma_msg_put - give back all Receives of a message
 * @msg: message that came through ops->receive(), or part of a group, which verbs/gather.c holds
 *
 * The buffers of the Receives may be overwritten from now on. See rpcrdma_recv_put().
 *
 * Context: process, completion workqueue or softirq; does not sleep.
 */
static inline void rpcrdma_msg_put(struct rpcrdma_msg_in *msg)
{
	if (unlikely(msg->mi_more))
		rpcrdma_msg_give_more(msg, rpcrdma_recv_put);
	rpcrdma_recv_put(rpcrdma_msg_first(msg));
}

/**
 * rpcrdma_msg_drop - give a message back to a connection that is down
 * @msg: message that came through ops->receive(), or part of a group, which verbs/gather.c holds
 *
 * If rpcrdma_recv_pool_orphan() has already left the Receives of the message to the
 * connection's owner, they are freed here. See rpcrdma_recv_drop().
 *
 * Context: any.
 */
static inline void rpcrdma_msg_drop(struct rpcrdma_msg_in *msg)
{
	if (unlikely(msg->mi_more))
		rpcrdma_msg_give_more(msg, rpcrdma_recv_drop);
	rpcrdma_recv_drop(rpcrdma_msg_first(msg));
}

#endif /* RPCRDMA_MSG_H */
