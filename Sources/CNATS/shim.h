#ifndef ZG_CNATS_SHIM_H
#define ZG_CNATS_SHIM_H

#include <nats/nats.h>

/* natsMsg_Create takes char pointers, Swift has bytes. The library copies them. */

static inline natsStatus zg_nats_message(
    natsMsg *_Nullable *_Nonnull message, const char *_Nonnull subject,
    const char *_Nullable reply, const void *_Nullable bytes, int count) {
    return natsMsg_Create(message, subject, reply, (const char *)bytes, count);
}

#endif
