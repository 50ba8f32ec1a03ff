/* vision - NVDEC and detection. */
#include "inventory/design/vision.h"

#include "inventory/design/constant.h"

#include <math.h>
#include <string.h>

static const char *const CODECS[] = {"h264", "hevc", "hevc10", "av1", "vp9", NULL};
static const char *const GENERATIONS[] = {
	"pascal", "turing", "ampere", "ada", "blackwell", "thor", "ga100", "hopper", NULL};
/* Per engine, by generation and codec; GA100 and Hopper carry Turing's, at about 1,410/1,860 and
 * 1,755/1,860 of its clock. */
static const double FPS[][5] = {{694, 810, 789, 0, 846}, {771, 1316, 1158, 0, 932},
	{748, 1415, 1299, 790, 1075}, {903, 1641, 1520, 1018, 1290}, {2172, 1872, 1818, 1119, 1445},
	{1434, 1293, 1130, 794, 1019}, {584, 997, 878, 0, 706}, {727, 1242, 1093, 0, 879}};

static int index_of(const char *const *names, const char *name, const char *what, struct err *err)
{
	for (int i = 0; names[i]; i++)
		if (strcasecmp(names[i], name) == 0)
			return i;
	return err_set(err, E_NOTFOUND, "there is no %s '%.40s'", what, name);
}

int vision_engine_fps(const char *generation, const char *codec, double *fps, struct err *err)
{
	const char *plain = strcasecmp(codec, "h265") == 0    ? "hevc"
			    : strcasecmp(codec, "h.265") == 0 ? "hevc"
			    : strcasecmp(codec, "h.264") == 0 ? "h264"
							      : codec;
	const int g = index_of(GENERATIONS, generation, "decoder generation", err);
	const int c = g < 0 ? g : index_of(CODECS, plain, "codec", err);

	if (c < 0)
		return c;
	*fps = FPS[g][c];
	return *fps > 0 ? 0
			: err_set(err, E_UNSUPPORTED, "decoders of %s know no %s", generation,
				  plain);
}

double vision_decode_gpus(double cameras, double stream_fps, double pixels, double engine_fps,
	double engines, double derate)
{
	return ceil(cameras * stream_fps * pixels / (engine_fps * engines * derate));
}

double vision_fps(double flops, double flop, double batch, bool int8)
{
	const double eta = constant(batch >= 16 ? K_ETA_VISION_BATCH : K_ETA_VISION_ONE);

	return eta * flops / flop * (int8 ? constant(K_VISION_INT8_GAIN) : 1);
}

double vision_surface_bytes(double streams)
{
	return streams * constant(K_SURFACES) * constant(K_SURFACE_BYTES);
}
