#ifndef ZG_CSQLITE_SHIM_H
#define ZG_CSQLITE_SHIM_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT is -1 cast to a function pointer, which Swift cannot import. SQLite copies the
   bytes. */

static inline int zg_sqlite_bind_bytes(
    sqlite3_stmt *_Nonnull statement, int place, const void *_Nullable bytes, int count) {
    return count == 0 ? sqlite3_bind_zeroblob(statement, place, 0)
                      : sqlite3_bind_blob(statement, place, bytes, count, SQLITE_TRANSIENT);
}

static inline int zg_sqlite_bind_text(
    sqlite3_stmt *_Nonnull statement, int place, const void *_Nonnull bytes, int count) {
    return sqlite3_bind_text(statement, place, (const char *)bytes, count, SQLITE_TRANSIENT);
}

/* sqlite3_db_config is variadic, which Swift cannot call. */

static inline int zg_sqlite_set_defensive(sqlite3 *_Nonnull database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

#endif
