/*
 * sources - apt's lists of sources, one-line and deb822, as entries.
 *
 * Pure functions over a file's text: what it configures, and the same text with
 * one entry switched off. Lines that mean nothing are passed over, as apt would
 * refuse them anyway.
 */
#pragma once

#include "agent/base/buf.h"
#include "agent/base/vec.h"

/* Stands in front of what was switched off, with the name of the repo. */
#define SOURCES_OFF "# switched off by stoika repo "

struct source {
	size_t start, end; /* of the line or the stanza in the text */
	bool stanza;       /* deb822 */
	bool enabled;
	/* Values between blanks; empty when not given. */
	struct str types, uris, suites, components, architectures, signed_by;
	struct str off_by; /* the repo that switched it off, empty: nobody of ours */
};

struct source_rows vec(struct source);

/* By the file's name: "*.sources" is deb822, all else one-line. */
void sources_read(struct str text, const char *path, struct source_rows *out);
/* Scheme and host in small letters, no slashes at the end; "./" is "/". */
void sources_normalize_uri(struct str uri, struct buf *out);
bool sources_same_uri(struct str a, struct str b);
bool sources_same_suite(struct str a, struct str b);
/* Are all words of part among those of whole? */
bool sources_has_words(struct str whole, struct str part);
/* The text with one entry switched off on behalf of a repo. */
void sources_switch_off(struct str text, const struct source *s, const char *repo, struct buf *out);
