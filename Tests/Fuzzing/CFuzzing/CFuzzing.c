#include "CFuzzing.h"
