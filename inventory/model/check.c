/* check - placeholder */
#include "inventory/model/check.h"
