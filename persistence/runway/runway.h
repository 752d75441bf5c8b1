#pragma once
#include "rocksdb/c.h"

#ifdef __cplusplus
extern "C" {
#endif

// mq9_set_runway has a database that is opened with the options read its logs as the package says; with ahead it writes them so, too.
void mq9_set_runway(rocksdb_options_t* options, int ahead);

#ifdef __cplusplus
}
#endif
