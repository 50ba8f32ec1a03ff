#include "agent/unpack/queue.h"

#include "agent/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

struct block {
	unsigned char *bytes;
	size_t n;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	unsigned blocks, filled, emptied;
	bool ended, broken;
	bool taken; /* the taking side holds a block */
	bool lends; /* blocks belong to the filling side */
	struct block *ring;
};

struct queue *queue_new(unsigned blocks, size_t size)
{
	struct queue *q = xcalloc(1, sizeof *q);

	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->moved, NULL);
	q->blocks = blocks;
	q->ring = xcalloc(blocks, sizeof *q->ring);
	for (unsigned i = 0; i < blocks; i++)
		q->ring[i].bytes = size > 0 ? xmalloc(size) : NULL;
	q->lends = size == 0;
	return q;
}

void queue_free(struct queue *q)
{
	for (unsigned i = 0; i < q->blocks && !q->lends; i++)
		free(q->ring[i].bytes);
	free(q->ring);
	pthread_cond_destroy(&q->moved);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

bool queue_wait(struct queue *q)
{
	bool broken;

	pthread_mutex_lock(&q->lock);
	while (q->filled - q->emptied == q->blocks && !q->broken)
		pthread_cond_wait(&q->moved, &q->lock);
	broken = q->broken;
	pthread_mutex_unlock(&q->lock);
	return !broken;
}

unsigned char *queue_space(struct queue *q)
{
	return queue_wait(q) ? q->ring[q->filled % q->blocks].bytes : NULL;
}

void queue_push_at(struct queue *q, unsigned char *p, size_t n)
{
	q->ring[q->filled % q->blocks].bytes = p;
	queue_push(q, n);
}

void queue_push(struct queue *q, size_t n)
{
	pthread_mutex_lock(&q->lock);
	q->ring[q->filled++ % q->blocks].n = n;
	pthread_cond_signal(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	pthread_cond_signal(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

void queue_break(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->broken = true;
	pthread_cond_signal(&q->moved);
	pthread_mutex_unlock(&q->lock);
}

const unsigned char *queue_pop(struct queue *q, size_t *n)
{
	const struct block *b = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->taken) {
		q->emptied++;
		pthread_cond_signal(&q->moved);
	}
	while (q->emptied == q->filled && !q->ended)
		pthread_cond_wait(&q->moved, &q->lock);
	q->taken = q->emptied != q->filled;
	if (q->taken) {
		b = &q->ring[q->emptied % q->blocks];
		*n = b->n;
	}
	pthread_mutex_unlock(&q->lock);
	return b ? b->bytes : NULL;
}
