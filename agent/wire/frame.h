/*
 * frame - the length-prefixed frames of the channel between controller and agent.
 *
 * The agent speaks first: WIRE_MAGIC, then frames. A frame is a 4-byte
 * big-endian length of what follows, one type byte, the payload. Type 'J' is
 * one JSON message (see message.h), 'D' raw bytes of the bundle announced before.
 * Up to WIRE_NOISE_MAX bytes before the magic (a talkative shell) are skipped.
 */
#pragma once

#include "agent/base/buf.h"

#define WIRE_MAGIC     "STOIKA-AGENT/1\n"
#define WIRE_PROTO     1
#define WIRE_FRAME_MAX (1u << 20) /* type byte and payload */
#define WIRE_NOISE_MAX (64u << 10)

struct err;

struct frame {
	char type;          /* 'J' or 'D' */
	struct str payload; /* points into the reader; valid until the next call */
};

struct frame_reader {
	struct buf in;
	size_t used, noise; /* bytes handed out; bytes skipped before the magic */
	bool synced;        /* the magic was seen, or none is expected */
};

/* want_magic: skip to WIRE_MAGIC first (the controller's side). */
void frame_reader_init(struct frame_reader *r, bool want_magic);
void frame_reader_done(struct frame_reader *r);
void frame_reader_feed(struct frame_reader *r, struct str bytes);
/* Zeros over the bytes that were handed out: they held a secret. */
void frame_reader_wipe(struct frame_reader *r);
/* 1 a frame, 0 more bytes are needed, negative: E_SYNTAX or E_LIMIT (the link is then useless). */
int frame_reader_next(struct frame_reader *r, struct frame *f, struct err *err);

/* A payload that does not fit a frame makes out overflow (buf_ok is then false). */
void frame_write(struct buf *out, char type, struct str payload);
