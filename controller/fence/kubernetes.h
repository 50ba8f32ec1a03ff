/* kubernetes - fence by kubectl; what is for others stands in fence.h. */
#pragma once

#include "controller/fence/fence_priv.h"
