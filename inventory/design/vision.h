/* vision - cameras to GPUs: decoders at the stream's rate, detectors at the analysed one. */
#pragma once

#include "agent/base/err.h"

#include <stdbool.h>

/* Frames of 1080p a second that one engine of the generation decodes; 0: none. SDK 13.0 note. */
int vision_engine_fps(const char *generation, const char *codec, double *fps, struct err *err);
/* GPUs for the decode: cameras x stream fps, pixels relative to 1080p. Sizing book 4.1. */
double vision_decode_gpus(double cameras, double stream_fps, double pixels, double engine_fps,
	double engines, double derate);
/* Frames/s of a network of flop a frame on flops FLOP/s dense. Sizing book 4.2. */
double vision_fps(double flops, double flop, double batch, bool int8);
/* Bytes of decode surfaces. Sizing book 4.1. */
double vision_surface_bytes(double streams);
