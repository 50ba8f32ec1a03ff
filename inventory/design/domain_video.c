/* domain_video - video.decode and video.inference. */
#include "inventory/design/constant.h"
#include "inventory/design/domain_priv.h"
#include "inventory/design/llm_catalog.h"
#include "inventory/design/need.h"
#include "inventory/design/vision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HD (1920.0 * 1080)

static double above(struct ask *a, const char *key, double otherwise)
{
	const double v = ask_num(a, key, otherwise);

	if (a->rc == 0 && need_above(key, v, a->err) < 0)
		ask_failed(a, key, -E_SCHEMA);
	return v;
}

static const char *generation(const struct card *c)
{
	static const struct {
		const char *id, *generation;
	} of[] = {{"a100", "ga100"}, {"h100", "hopper"}, {"h200", "hopper"}, {"h800", "hopper"},
		{"l4", "ada"}, {"rtx-6000-ada", "ada"}, {"a10", "ampere"}, {"t4", "turing"},
		{"b200", "blackwell"}, {"b300", "blackwell"}, {"gb", "blackwell"},
		{"rtx-pro", "blackwell"}};

	for (size_t i = 0; c->id && i < sizeof of / sizeof of[0]; i++)
		if (strncmp(c->id, of[i].id, strlen(of[i].id)) == 0)
			return of[i].generation;
	return "turing";
}

void domain_video_decode(struct ask *a)
{
	const char *codec = ask_text(a, "codec"), *told = ask_text(a, "generation");
	struct card c;
	const bool card = domain_card(a, NULL, &c);
	const double cameras = above(a, "cameras", NAN), fps = above(a, "stream_fps", NAN);
	const double width = above(a, "width", 1920), height = above(a, "height", 1080);
	const double derate = ask_num(a, "derate", constant(K_DECODE_DERATE));
	double engine = ask_num(a, "fps_1080p_per_engine", NAN);
	const double engines = above(a, "engines", card ? (double)c.nvdec : (double)NAN);
	int rc;

	if (isnan(engine) && a->rc == 0 &&
		(rc = vision_engine_fps(told ? told : generation(&c), codec ? codec : "h264",
			 &engine, a->err)) < 0)
		ask_failed(a, "codec", rc);
	if (a->rc == 0 && need_share("derate", derate, a->err) < 0)
		ask_failed(a, "derate", -E_SCHEMA);
	if (a->rc == 0 && need_above("fps_1080p_per_engine", engine, a->err) < 0)
		ask_failed(a, "fps_1080p_per_engine", -E_SCHEMA);
	if (a->rc < 0)
		return;
	ask_put(a, "decode_fps", cameras * fps);
	ask_put(a, "fps_per_gpu", engine * engines * derate);
	ask_put(a, "gpus",
		vision_decode_gpus(cameras, fps, width * height / HD, engine, engines, derate));
	ask_put(a, "surface_bytes", vision_surface_bytes(cameras));
}

/* FLOP of a frame: stated, or the catalogue's at 640 x 640 scaled by the input. */
static double flop_of(struct ask *a)
{
	const double input = above(a, "input", 640);
	const double told = ask_num(a, "gflops", NAN);
	const char *name = ask_text(a, "model");

	if (isnan(told) && (!name || strcasecmp(name, "yolov8m") != 0))
		ask_fail(a, "gflops", "'gflops' of a frame is missing");
	return isnan(told) ? 78.9e9 * input * input / 640 / 640 : told * 1e9;
}

void domain_video_inference(struct ask *a)
{
	const double flop = flop_of(a), latency = ask_num(a, "latency", NAN);
	const double batch = above(a, "batch", 1);
	const double cameras = ask_num(a, "cameras", NAN), rate = ask_num(a, "analytics_fps", 10);
	const bool int8 = ask_has(a, "precision") && strcmp(ask_text(a, "precision"), "int8") == 0;
	struct card c;
	double fps, one, peak;
	char key[40];

	if (!domain_card(a, NULL, &c) && a->rc == 0)
		ask_fail(a, "gpu", "'gpu' is missing");
	(void)ask_text(a, "codec");
	if (a->rc == 0 && need_above("gflops", flop, a->err) < 0)
		ask_failed(a, "gflops", -E_SCHEMA);
	if (a->rc == 0 && !isnan(latency) && need_above("latency_ms", latency, a->err) < 0)
		ask_failed(a, "latency_ms", -E_SCHEMA);
	if (a->rc < 0)
		return;
	peak = c.flops[RATE_BF16];
	one = isnan(latency) ? vision_fps(peak, flop, 1, int8) : 1 / latency;
	fps = batch > 1 ? vision_fps(peak, flop, batch, int8) : one;
	ask_put(a, "fps_batch1", one);
	ask_put(a, "fps", fps);
	(void)snprintf(key, sizeof key, "pct_of_%.0ftf", peak / 1e12);
	ask_put(a, key, 100 * fps * flop / peak);
	ask_put(a, "pct_of_peak", 100 * fps * flop / peak);
	if (!isnan(cameras))
		ask_put(a, "gpus", ceil(cameras * rate / fps));
}
