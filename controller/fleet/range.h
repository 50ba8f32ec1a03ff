/*
 * range - the node range grammar, one for every verb.
 *
 *	gpu[01-16,20]   names, zero padding kept     a,b     union
 *	a,-b            without b                    a@b     in both
 *	rack=R1 role=gpu site=x state=ready type=y   ~regex  names by POSIX extended regex
 *	location=hall drift=drift (the state of its newest report: ok, drift, failed ...)
 *	all             every node                   ( )     grouping
 *
 * '@' binds tighter than ','. Evaluated against the nodes of the store; a name
 * that is no node is an error with its column and the nearest known name.
 */
#pragma once

#include "agent/base/buf.h"
#include "inventory/store/store.h"

#define RANGE_NODES_MAX 65536

/*
 * Appends pointers into all (its order, each once) that expr means to *out.
 * E_SYNTAX or E_NOTFOUND with the column in err->col; an empty result is E_NOTFOUND.
 */
struct node_refs vec(const struct node_row *);
int range_resolve(
	const char *expr, const struct node_rows *all, struct node_refs *out, struct err *err);
/* The shortest text for a set of names: "gpu[01-03,07],login1". */
void range_fold(const struct node_refs *nodes, struct buf *out);
