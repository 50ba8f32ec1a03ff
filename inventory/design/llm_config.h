/*
 * llm_config - a model from its Hugging Face config.json.
 *
 * Reads what counts for memory and speed: layers and their kinds, heads, widths, experts, MLA,
 * windows, vocabulary. The text part of a multimodal model stands in text_config. Families that
 * name their keys as GPT-2 does are understood too. Parameters are computed, never guessed.
 */
#pragma once

#include "agent/base/str.h"
#include "inventory/design/llm.h"

#define LLM_CONFIG_MOST (1024 * 1024)

/* name: of the file, for messages. E_SYNTAX, E_SCHEMA (a key that must be there), E_LIMIT. */
int llm_config_read(struct str text, const char *name, struct llm *out, struct err *err);
