/* command - "stoika-agent trial", and the same for the cases of the repository. */
#pragma once

#define TRIAL_COMMAND "trial"
#define TRIAL_USAGE                                                                         \
	"  trial [--recipes DIR]... [--recipe NAME]... [--programs DIR] [--json] CASE...\n" \
	"                  run recipes over the trees of cases, on throw-away roots\n"

/* Prints a line per case, or a JSON object per line; 0, 1 when a case is not as written, 2. */
int trial_main(int argc, char **argv);
