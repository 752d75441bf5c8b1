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
// gone for every reader of metadata, at a cost that does not depend on its size. The purger deletes its
// messages in small batches afterwards, and then the note; Open finds the notes that a crash left and goes on. These are point deletions
// on purpose: each unflushed range deletion makes every new iterator slower.
// Of two mailboxes of one name, the old one's expiry must be committed before the new one's creation.
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
// A Store owns two, the committer and the purger, and a Memory owns one, its committer. Close ends them and
// waits. Callbacks of Commit run on the committer; those of Mailboxes and Index on their caller.
//
// # RocksDB's options, and why
//
//   - Log recovery tolerates a torn tail, which nobody was promised, and refuses to open on damage in the middle, where
//     acknowledged changes may be. Point-in-time recovery would drop those without a word; it is used only on
//     request (Options.Salvage).
//   - LZ4: as small as zstd on message bodies, and half the time at flush.
//   - Files dense with deletions are compacted early: a queue appends at the back and deletes at the front.
//   - No bloom filters: every read is a range read from a known key.
//   - The log files' total is bounded, because the rarely written column families would otherwise hold them back, and with them the
//     time that a restart takes.
//   - The engine's own LOG has warnings only and a size limit; the library's default here is to log everything.
package persistence
