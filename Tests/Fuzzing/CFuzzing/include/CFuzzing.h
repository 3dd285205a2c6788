#ifndef CFUZZING_H
#define CFUZZING_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's entry for programs with a main of their own. It has no header.
int LLVMFuzzerRunDriver(int *_Nonnull argc, char *_Nullable *_Nonnull *_Nonnull argv,
                        int (*_Nonnull exercise)(const uint8_t *_Nullable bytes, size_t count));

#endif
