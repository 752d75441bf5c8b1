package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mq9-broker/broker/persistence"
)

// bench is what every scenario is given.
type bench struct {
	tmp       string
	keep      bool
	n         int
	size      int
	mailboxes int
	rounds    int
	cold      int
	expire    bool
	unmarked  bool
	middle    bool
	watch     time.Duration
	options   persistence.Options
	sync      string

	dir string // the store's, made by prepare
}

func (b *bench) flags(f *flag.FlagSet) {
	f.StringVar(&b.tmp, "tmp", os.TempDir(), "where to make the store's `directory`")
	f.BoolVar(&b.keep, "keep", false, "leave the store and print where it is")
	f.IntVar(&b.n, "n", 1_000_000, "messages")
	f.IntVar(&b.size, "size", 256, "bytes of a payload")
	f.IntVar(&b.mailboxes, "mailboxes", 1000, "mailboxes")
	f.IntVar(&b.rounds, "rounds", 5, "repetitions of what is repeated")
	f.IntVar(&b.cold, "cold", 0, "queue: messages that lie in the store all the time")
	f.BoolVar(&b.expire, "expire", false, "space: expire the mailboxes instead of deleting each message")
	f.BoolVar(&b.unmarked, "unmarked", false, "tombstones: do not tell the store which message is the first")
	f.BoolVar(&b.middle, "middle", false, "tombstones: leave the very first message alive too")
	f.DurationVar(&b.watch, "watch", 2*time.Minute, "space: how long to watch at most")
	f.StringVar(&b.sync, "sync", "always", "always, interval or never")
	f.Int64Var(&b.options.BlockCacheBytes, "cache", 0, "bytes of block cache; 0 = the default")
	f.Int64Var(&b.options.MemtableBytes, "memtable", 0, "bytes of memtable; 0 = the default")
	f.StringVar(&b.options.Tuning.Messages, "messages", "", "RocksDB options of the messages' family, on top of ours")
	f.StringVar(&b.options.Tuning.Database, "database", "", "RocksDB options of the database, on top of ours")
	f.BoolVar(&b.options.Tuning.CloseGaps, "close-gaps", false, "compact files that are dense with deletions at once")
	f.BoolVar(&b.options.Tuning.WarmReads, "warm-reads", false, "reads leave what they read in the block cache")
	f.IntVar(&b.options.Tuning.ReadAhead, "read-ahead", 0, "bytes that reads ask the disk for ahead")
	f.BoolVar(&b.options.Tuning.NoTidying, "no-tidying", false, "nobody looks for space to give back")
}

func (b *bench) prepare() (err error) {
	if b.options.Sync, err = persistence.ParseSync(b.sync); err != nil {
		return err
	}
	b.options.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b.dir, err = os.MkdirTemp(b.tmp, "mq9-bench-")
	return err
}

func (b *bench) clean() {
	if b.keep {
		fmt.Println("the store is in", b.dir)
		return
	}
	if err := os.RemoveAll(b.dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (b *bench) open() (*persistence.Store, error) { return persistence.Open(b.dir, b.options) }

// say prints one figure.
func say(name, format string, args ...any) {
	fmt.Printf("%-34s %s\n", name, fmt.Sprintf(format, args...))
}

// mib renders bytes.
func mib[T int | int64](bytes T) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// perSecond renders a speed.
func perSecond(bytes int64, took time.Duration) string {
	return fmt.Sprintf("%.0f MiB/s", float64(bytes)/(1<<20)/took.Seconds())
}

// usage is how many bytes the files below a directory are long, and the write-ahead logs among them. A file that vanishes
// meanwhile has no length.
func usageOf(dir string) (all, logs int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreVanished(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreVanished(err)
		}
		all += info.Size()
		if strings.HasSuffix(path, ".log") {
			logs += info.Size()
		}
		return nil
	})
	return all, logs, err
}

func ignoreVanished(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
