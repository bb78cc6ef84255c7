/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A received message: the Receives it came in, its header and its body. Whoever
 * looks at what a peer has sent does so through this; what is in a Receive, and how
 * many of them a message takes, is known nowhere above.
 */
#ifndef RPCRDMA_MSG_H
#define RPCRDMA_MSG_H

#include <linux/container_of.h>
#include <linux/string.h>
#include <rpcrdma/recv.h>

/* Receives that one message takes, and so the credits that one Call takes.
 * Promises, grants and expectations are counted in Receives; this converts
 * messages that are still to come.
 */
#define RPCRDMA_MSG_RECVS	1u

/**
 * struct rpcrdma_msg_piece - a walk over part of a body
 * @mp_data: the present piece
 * @mp_len: its bytes; 0: there is none
 * @mp_left: bytes behind it that are still to be visited
 * @mp_in: message of the Receive that the present piece is in
 *
 * Begin with rpcrdma_msg_piece_first(), go on with rpcrdma_msg_piece_next().
 */
struct rpcrdma_msg_piece {
	void				*mp_data;
	u32				mp_len;
	u32				mp_left;
	const struct rpcrdma_msg_in	*mp_in;
};

/* verbs/msg.c */
void rpcrdma_msg_give_more(struct rpcrdma_msg_in *msg,
			   void (*give)(struct rpcrdma_recv *recv));
int rpcrdma_msg_renew(struct rpcrdma_msg_in *msg);
void rpcrdma_msg_piece_seek(const struct rpcrdma_msg_in *msg, u32 offset,
			    u32 len, struct rpcrdma_msg_piece *piece);
void rpcrdma_msg_piece_step(struct rpcrdma_msg_piece *piece);
void rpcrdma_msg_copy_pieces(const struct rpcrdma_msg_in *msg, u32 offset,
			     void *to, u32 len);
u32 rpcrdma_msg_data_npages(const struct rpcrdma_msg_in *msg);
void rpcrdma_msg_data_pages(const struct rpcrdma_msg_in *msg,
			    struct page **pages);
void *rpcrdma_msg_data_at(const struct rpcrdma_msg_in *msg, u32 offset,
			  u32 *len);

/* The Receive that the message began with; for this file */
#define rpcrdma_msg_first(msg) \
	container_of_const(msg, struct rpcrdma_recv, rv_msg)

/* How many Receives it came in */
static inline u32 rpcrdma_msg_recvs(const struct rpcrdma_msg_in *msg)
{
	return 1 + msg->mi_more_recvs;
}

/* What trace events call it: the completion ID of its first Receive */
static inline const struct rpcrdma_cid *
rpcrdma_msg_cid(const struct rpcrdma_msg_in *msg)
{
	return &rpcrdma_msg_first(msg)->rv_cid;
}

/* Bytes received, transport headers among them */
static inline u32 rpcrdma_msg_len(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_len + msg->mi_more_len;
}

/* Where the header begins. All of it is in one Receive */
static inline const void *rpcrdma_msg_head(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_buf.bf_data;
}

/* Bytes from where the header begins to the end of that Receive */
static inline u32 rpcrdma_msg_head_room(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_len;
}

/* The peer has invalidated a handle with it: rpcrdma_msg_inv_rkey(). If it came in
 * several Receives, that was with the last one, and is noted in the first.
 */
static inline bool rpcrdma_msg_invalidated(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_invalidated;
}

/* That handle */
static inline u32 rpcrdma_msg_inv_rkey(const struct rpcrdma_msg_in *msg)
{
	return rpcrdma_msg_first(msg)->rv_inv_rkey;
}

/**
 * rpcrdma_msg_set_body - the header was read: the body begins behind it
 * @msg: message
 * @offset: bytes of header, no more than there are
 * @len: bytes of body behind the header, in the same Receive; 0: none
 *
 * Context: any; the message is the caller's.
 */
static inline void rpcrdma_msg_set_body(struct rpcrdma_msg_in *msg, u32 offset,
					u32 len)
{
	msg->mi_body = rpcrdma_msg_first(msg)->rv_buf.bf_data + offset;
	msg->mi_here = len;
}

/* It came as a group, of one Receive or several: rpcrdma2_decode_group() reads its header. */
static inline bool rpcrdma_msg_is_group(const struct rpcrdma_msg_in *msg)
{
	return unlikely(msg->mi_group);
}

/* What is wrong with a group that has a sound header */
static inline enum rpcrdma_verdict
rpcrdma_msg_verdict(const struct rpcrdma_msg_in *msg)
{
	return msg->mi_verdict;
}

/* Bytes of body, once rpcrdma_msg_set_body() was called */
static inline u32 rpcrdma_msg_body_len(const struct rpcrdma_msg_in *msg)
{
	return msg->mi_here + msg->mi_more_body;
}

/* Is the body in one piece, so that it can be used where it is? */
static inline bool rpcrdma_msg_is_flat(const struct rpcrdma_msg_in *msg)
{
	return likely(!msg->mi_more_body);
}

/* The body if rpcrdma_msg_is_flat(); otherwise its first piece */
static inline void *rpcrdma_msg_body(const struct rpcrdma_msg_in *msg)
{
	return msg->mi_body;
}

/**
 * rpcrdma_msg_piece_first - begin a walk over part of a body
 * @msg: message
 * @offset: where in the body the part begins
 * @len: bytes of it, all within the body
 * @piece: OUT: the first piece; mp_len is 0 if @len is
 *
 * Context: any, as long as the message is not given back.
 */
static inline void rpcrdma_msg_piece_first(const struct rpcrdma_msg_in *msg,
					   u32 offset, u32 len,
					   struct rpcrdma_msg_piece *piece)
{
	if (unlikely(!rpcrdma_msg_is_flat(msg))) {
		rpcrdma_msg_piece_seek(msg, offset, len, piece);
		return;
	}
	piece->mp_data = msg->mi_body + offset;
	piece->mp_len = len;
	piece->mp_left = 0;
}

/**
 * rpcrdma_msg_piece_next - go on to the next piece
 * @piece: the walk; its mp_len is 0 if that was the last one
 *
 * Context: any, as long as the message is not given back.
 */
static inline void rpcrdma_msg_piece_next(struct rpcrdma_msg_piece *piece)
{
	piece->mp_len = 0;
	if (unlikely(piece->mp_left))
		rpcrdma_msg_piece_step(piece);
}

/**
 * rpcrdma_msg_copy - copy part of a body
 * @msg: message
 * @offset: where in the body to begin
 * @to: where to copy to
 * @len: bytes, all within the body
 *
 * Context: any, as long as the message is not given back.
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
 * rpcrdma_msg_put - give a message back: all of its Receives
 * @msg: message that came through ops->receive()
 *
 * Their buffers may be overwritten from now on. See rpcrdma_recv_put().
 *
 * Context: any that may take a lock; does not sleep.
 */
static inline void rpcrdma_msg_put(struct rpcrdma_msg_in *msg)
{
	if (unlikely(msg->mi_more))
		rpcrdma_msg_give_more(msg, rpcrdma_recv_put);
	rpcrdma_recv_put(rpcrdma_msg_first(msg));
}

/**
 * rpcrdma_msg_drop - give a message back to a connection that is being closed
 * @msg: message that came through ops->receive()
 *
 * Each Receive that its connection has let go of is freed. See rpcrdma_recv_drop().
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
