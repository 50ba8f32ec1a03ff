/*
 * kernel_log - what the kernel still holds of what it said in this boot.
 *
 * /dev/kmsg of the root, read to its end without waiting; a record is a line with its head
 * ("4,1234,56789,-;NVRM: Xid ..."). A regular file there is read as it is.
 */
#pragma once

struct buf;
struct err;

/* Adds to out, up to its cap. E_NOTFOUND where there is no such log (a container). */
int kernel_log_read(int root, struct buf *out, struct err *err);
