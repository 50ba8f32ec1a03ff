/*
 * queue - blocks of bytes from one thread to another, in a ring.
 *
 * One fills, one takes; the block taken stays valid until the next is asked for. The filling side
 * ends it by queue_end, the taking side gives up by queue_break.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct queue;

struct queue *queue_new(unsigned blocks, size_t size);
void queue_free(struct queue *q);
/* An empty block of the queue's size; waits for one. NULL: the other side gave up. */
unsigned char *queue_space(struct queue *q);
void queue_push(struct queue *q, size_t n); /* hands over n bytes of that block */
/*
 * The same for bytes that lie elsewhere (a queue made with size 0): waits until fewer than all
 * blocks are under way, false when the other side gave up; then hands over n bytes at p.
 */
bool queue_wait(struct queue *q);
void queue_push_at(struct queue *q, unsigned char *p, size_t n);
void queue_end(struct queue *q);
/* The next block and its length; NULL at the end. */
const unsigned char *queue_pop(struct queue *q, size_t *n);
void queue_break(struct queue *q);
