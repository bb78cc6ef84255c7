// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs for the test programs in this directory, clients and servers: connections, Sends,
 * RDMA Reads and Writes, and one function that reports events. The library does not
 * interpret messages (except peer_storm()). It has no threads, and is loaded by peer.py.
 *
 * All work requests that the caller posts use the arena, a memory region that the caller
 * divides. Receives have memory of their own. peer_wait() copies a message from its
 * Receive. It then posts the Receive again, unless the caller wants to keep Receives.
 *
 * This file is linked with one of two back ends: peer_verbs.c for providers with verbs for user
 * space, or peer_kernel.c for others.
 */
#include <time.h>
#include <unistd.h>
#include "peer.h"

/* For peer_storm(): a message in the arena, and counts of the messages that arrive */
struct storm_message {
	void *at;
	uint32_t length;
};

struct storm_tally {
	uint32_t type, code, count;
};

static uint32_t storm_word(const uint8_t *message, uint32_t length, uint32_t at)
{
	return at + 4 > length ? 0 : (uint32_t)message[at] << 24 | message[at + 1] << 16 |
				     message[at + 2] << 8 | message[at + 3];
}

/* Count a message in @tallies. An error of version 2 has its code after the flags. */
static int storm_count(struct storm_tally *tallies, int ntallies,
		       const uint8_t *message, uint32_t length)
{
	uint32_t type = storm_word(message, length, 12);
	uint32_t code = type == 4 ? storm_word(message, length, 20) : 0;
	int i;

	for (i = 0; i < ntallies; i++) {
		if (tallies[i].count && (tallies[i].type != type || tallies[i].code != code))
			continue;
		tallies[i].type = type;
		tallies[i].code = code;
		tallies[i].count++;
		return 0;
	}
	return -1;
}

static int storm_send(int conn, const struct storm_message *messages, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (peer_post(conn, PEER_SEND, FIRST_ID, messages[i].at, messages[i].length, 0, 0))
			return -1;
	return 0;
}

/*
 * Send the @n messages @rounds times. For each round, @answers answers are expected, in
 * any order. At most @ahead rounds are in progress at a time. The function ends when all
 * answers have arrived, or if none has arrived for 20 s, or if the connection is lost.
 * Returns the number of messages that have arrived, and in @tallies the number of each
 * kind. This is much faster than peer_post() and peer_wait().
 */
int peer_storm(int conn, const struct storm_message *messages, int n, int answers,
	       int rounds, int ahead, struct storm_tally *tallies, int ntallies)
{
	int idle = 0, sent = 0, got = 0, sending = 0;
	static struct event event;

	/* Wait for all Sends, too, so that peer_wait() does not report them later. */
	while ((got < rounds * answers || sending) && idle < 20000) {
		while (sent < rounds && sent < got / answers + ahead && sending + n < SQ_DEPTH) {
			if (storm_send(conn, messages, n))
				return got;
			sending += n;
			sent++;
		}
		event.status = 0;
		event.kind = poll_conn(conn, &event);
		if (event.status)
			return got;
		if (event.kind == NOTHING) {
			usleep(idle++ ? 1000 : 50);
			continue;
		}
		if (event.kind == DONE) {
			sending--;
			continue;
		}
		idle = 0;
		got++;
		if (storm_count(tallies, ntallies, event.data, event.length))
			return got;
	}
	return got;
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Wait up to @patience milliseconds for an event of any connection. */
int peer_wait(struct event *event, int patience)
{
	long long end = now_ms() + patience;

	do {
		event->kind = poll_any(event);
		if (event->kind != NOTHING)
			return event->kind;
		if (patience)
			usleep(500);
	} while (now_ms() < end);
	return NOTHING;
}
