/* manual_recipe - agent/recipe/README.md, which is the text of stoika-recipe(7); embed.cmake. */
#pragma once

extern const char MANUAL_RECIPE[];
