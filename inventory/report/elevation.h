/*
 * elevation - pictures of a rack: front and rear with cords, the load of its feeds, its heat.
 *
 * Each is a drawing of its own, drawn at 1:1 for a page of A4; colours as palette.h.
 */
#pragma once

#include "inventory/report/view.h"

void elevation_front(const struct view_rack *v, enum text_lang lang, struct buf *out);
/* PDUs stand at the sides with their outlets, cords coloured by feed. */
void elevation_rear(const struct view_rack *v, enum text_lang lang, struct buf *out);
/* A bar for each line of each feed: normal, after the worst loss, against the limit. */
void elevation_loads(const struct view_rack *v, enum text_lang lang, struct buf *out);
/* The same for heat, air and liquid against what takes them away. */
void elevation_heat(const struct view_rack *v, enum text_lang lang, struct buf *out);
