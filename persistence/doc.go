// Package persistence keeps what must survive a restart: the metadata of mailboxes and the messages of the critical and
// urgent tiers, in RocksDB. [Store] is the real thing and [Memory] its twin for tests; both pass one conformance suite.
//
// # What is on disk when a change is acknowledged
//
//   - [SyncAlways]: the log record of the change, through fdatasync. It survives the end of the process and of the machine.
//   - [SyncInterval]: the log record is with the operating system. It survives the end of the process; a power failure
//     costs at most the last Options.SyncInterval.
//   - [SyncNever]: as before, but when the operating system writes it out is its own affair.
//
// Of a batch that was being written when the process or the machine stopped all is there after a restart, or nothing. How that is told from damage, and how
// the log is written so that a sync costs little, is in package runway.
//
// In every mode a reserved id is synced before it is handed out, and Close syncs what is left. The normal tier is
// never here.
//
// # One writer
//
// Every change goes through one queue and one goroutine, the committer. While it writes a batch, further changes gather
// behind it; they become the next batch, with one log sync for all of them, and then each is told in the order of the
// calls. A batch that fails reaches exactly the changes that are in it: RocksDB applies a batch whole or not at all.
// A change is refused on its own when it makes no sense: a message for a mailbox that is not alive
// (never created, or expired by an earlier change) is answered [mq9.ErrNoMailbox], so nothing can be stored that
// no expiry would ever remove.
//
// # Expiry
//
// ExpireMailbox removes the metadata and notes the mailbox's number in the graveyard, in one batch: from then on it is
// gone for every reader of metadata, at a cost that does not depend on its size. The purger drops the files that hold nothing else, deletes
// the other messages in small batches, and then the note; Open finds the notes that a crash left and goes on. These are point deletions
// on purpose: each unflushed range deletion makes every new iterator slower.
// Of two mailboxes of one name, the old one's expiry must be committed before the new one's creation.
//
// # Messages that were deleted
//
// A deletion writes a tombstone, and whoever reads from the front of a queue would walk over all of them. So a deletion tells where
// the first message is ([mq9.DeleteMessage]), every 256th of a tier writes that down (marks.go), and [Store.Index] and [Store.Read] begin there,
// right after a restart too. Read walks over 5,000 tombstones at most to find one more message.
//
// The disk comes back when a compaction brings tombstones and messages together. The engine is in no hurry with that, because it
// goes by the size of what was written; so the tidier looks every five seconds how much is dead, and compacts when that is a quarter of the files
// and 16 MiB, or, when nobody writes, a sixteenth and 1 MiB (tidy.go). It rests ten times as long as it works.
//
// # Long messages
//
// A body of 1 KiB or more is kept in a column family of its own. An index, which is read when a mailbox is first touched after a start,
// then costs a time that depends on the number of its messages and not on their size. A replay reads bodies from disk, in
// file order, and leaves nothing in the block cache: readers of one mailbox share messages in its actor.
//
// # Snapshots
//
// [Store.Checkpoint] makes a snapshot, a directory of links with the file SNAPSHOT, which is written last and lists the others. [Restore] copies
// one, CURRENT last, without which there is no store. The first Open of a snapshot or a copy of it removes SNAPSHOT and moves the mark of used ids
// beyond all that the original may have handed out since: to the number of seconds since 2020 times 2^30, which is more
// than any store has used (snapshot_mark.go).
//
// # When the disk fails
//
// Writes are answered with an error that [mq9.AsError] turns into 503, reads go on, and the cause is logged once, then at most twice a minute.
// The committer probes once a second. RocksDB recovers from a full disk by itself; from other faults it does
// not, so when the directory takes a synced file again and RocksDB still refuses, the store closes and reopens it, which takes
// reads away for that moment.
//
// # Goroutines
//
// A Store owns three, the committer, the purger and the tidier, and a Memory owns one, its committer. Close ends them and
// waits. Only the committer changes what is stored; the purger and the tidier have it done, or rearrange files. Callbacks of Commit run on the committer; those of Mailboxes and Index on their caller.
//
// # RocksDB's options, and why
//
// Two figures each, this | the alternative, of one program run twice (see below). wa is write amplification: bytes written, the log included, for each byte of headers
// and payloads. sa is space amplification: bytes on disk for each byte that lives, 15 s after the last change; the payloads compress to half.
//
//   - Log recovery tolerates a torn tail, which nobody was promised, and refuses to open on damage in the middle, where
//     acknowledged changes may be. Point-in-time recovery would drop those without a word; it is used only on
//     request (Options.Salvage).
//   - All families are written out together, when what is in memory reaches Options.MemtableBytes: the rarely written ones would otherwise hold
//     the log back, and with it the time of a restart and the disk. Log after 260 MiB: 17 | 205 MiB with each for itself; left of 65 MiB
//     when all of it was deleted: 0.1 | 68 MiB.
//   - 64 MiB of memtable: wa 2.8, 70 MiB of log at most | 32 MiB: wa 3.5 | 128 MiB: wa 2.4, and twice the time to restart.
//   - A memtable grows by 128 KiB: 2.9 µs of processor for a message of 256 bytes | 1 MiB, the library's choice: 3.9. Steps of that size are pages that
//     the system has to map anew each time; smaller ones are used again.
//   - Compaction by level: wa 2.9 and 2.8, sa 0.61 and 0.51 (payloads of 512 and of 5,000 bytes) | universal: wa 2.7 and 2.4, sa 0.74 and 0.68, and room
//     for a second copy of everything now and then.
//   - LZ4: wa 2.9, sa 0.61 | none: wa 4.4, sa 1.33 | zstd: wa 2.9, sa 0.58, for 1.4 times the processor.
//   - The tidier: wa 2.9, sa 0.61 | without: wa 2.5, sa 0.85, and when all of 300 MiB are deleted, 0.1 MiB after 6 s | 164 MiB after a minute.
//     Compacting each file that is dense with deletions at once (Tuning.CloseGaps) gets sa 0.54 for wa 3.9, and no read needs it.
//   - No blob files: a replay from a cold disk 389–406 MiB/s | 245, of warm files 452–481 | 285, since nothing reads ahead in them. They have the better wa:
//     2.8 | 1.8.
//   - Blocks of 32 KiB: a replay of 512-byte payloads 333 MiB/s, its index 0.7 s for a million | 4 KiB: 265, 1.2 s | of 5,000-byte ones 452 MiB/s | 4 KiB: 324 | 128 KiB: 385.
//   - Reads leave nothing in the block cache: they are as fast, 452 | 451 MiB/s, and the cache stays free for what is small.
//     The files are not opened as read at random, so that the system reads ahead: cold 389–406 | 344 MiB/s; asking for 256 KiB ahead adds nothing (402).
//   - No bloom filters: every read is a range read from a known key.
//   - At most 1,024 files are open, of 64 MiB each; what the engine remembers of an open file's blocks is about 60 KiB.
//   - The engine's own LOG has warnings only and a size limit; the library's default here is to log everything.
//
// # Figures
//
// On two virtual processors of 2026 and a virtual disk of 435 MB/s written and 1.3 GB/s read, with nothing else running unless it says so:
//
//	go run ./benchmarks/persistence recovery
//	    1 million messages in 1,000 mailboxes: serving 0.8 s after a kill, 0.03 s after a second start; index of a mailbox 0.7 ms, at most 2.7 ms
//	go run ./benchmarks/persistence recovery -n 10000000 -sync never
//	    10 million: serving after 0.6 s, index 19 ms, at most 0.3 s (on a busy machine)
//	go run ./benchmarks/persistence tombstones
//	    a million published and deleted before the one alive: 2.6 ms to it, 2.4 ms right after a restart; 290 and 300 ms with -unmarked
//	go run ./benchmarks/persistence replay -n 320000 -size 16384 -sync never
//	    a mailbox of 5 GB: index 0.14 s, replay 461 MiB/s from a cold disk, 490 MiB/s warm, 173 MiB of memory after it
//	go run ./benchmarks/persistence replay -n 5000000 -size 1024 -sync never
//	    5 GB in small messages: index 2.7 s, replay 232 and 292 MiB/s, 172 MiB
//	go run ./benchmarks/persistence queue -n 1500000 -cold 500000 -size 512 -sync never -watch 15s
//	go run ./benchmarks/persistence queue -n 150000 -cold 50000 -size 5000 -sync never -watch 15s
//	    write amplification 2.9 and 2.8, space amplification 0.61 and 0.51; with -messages, -close-gaps, -no-tidying, -memtable the alternatives above
//	go run ./benchmarks/persistence space -n 300000 -size 1024 -mailboxes 10 -sync never [-expire]
//	    300 MiB deleted, or expired: 98 % of the disk is back 6 s, or 3 s, later
//	go run ./benchmarks/persistence snapshot
//	    a snapshot under full load takes 0.07 to 0.12 s; restoring 277 MiB 0.5 s
//	go run ./benchmarks/persistence leak -n 100000
//	    100,000 iterators and snapshots of the engine, 100 snapshots on disk: 21 MiB of memory before and after
package persistence
