// Package runway makes a sync of the engine's log cheaper, and keeps what that costs in certainty.
//
// A sync of a file that has grown is three operations of the device: the data, the file's new size, a flush. In a file that is long enough already it is
// two: 200 µs instead of 480, seen from the engine, and with it two thirds of the latency of a message that waits for nothing else. So while little is written at a time, the log is
// kept ahead of itself by zeros: a runway. What a message waits for then is the data and the flush.
//
// A log with zeros behind it ends where they begin: the engine skips them. But an end that is torn, because the process or the machine stopped while a batch was being
// written, does not run into the end of the file any more, by which the engine knows it. [logFile.logEnd] tells it from damage instead:
// what it finds torn is shown to the engine as zeros. It concerns the batch that nobody was told is stored, and nothing else, because a batch
// is written when the one before it is synced. In a log whose batches are not synced one by one there must be no runway.
//
// The engine takes another file system in C++ only, so the part that it calls is in runway.cc.
package runway
