/* gpu_probe - the child of the gpus group as a program of its own, as the agent is for it. */
#include "agent/facts/facts.h"

#include <string.h>

int main(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "gpu-probe") == 0 ? facts_gpu_probe() : 2;
}
