#include "inventory/model/check.h"
