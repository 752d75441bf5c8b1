package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/mq9-broker/broker/actors"
)

// limits are the flags that bound what the broker keeps and serves.
type limits struct {
	mailboxes       int
	mailboxMessages int
	memory          string
	mailboxMemory   string
	connections     int
	subscriptions   int

	actors actors.Limits // set by parse
}

// flags declares the flags with their defaults.
func (l *limits) flags(f *pflag.FlagSet) {
	f.IntVar(&l.mailboxes, "max-mailboxes", 0, "limit of mailboxes alive; 0 = none")
	f.IntVar(&l.mailboxMessages, "max-mailbox-messages", 0, "limit of messages stored in one mailbox; 0 = none")
	f.StringVar(&l.memory, "max-memory", "", "limit of `bytes` that normal messages take in memory, such as 2GB; 0 = none (default half of the machine's memory)")
	f.StringVar(&l.mailboxMemory, "max-mailbox-memory", "0", "limit of `bytes` that one mailbox's normal messages take in memory; 0 = none")
	f.IntVar(&l.connections, "max-connections", 0, "limit of client connections; 0 = what --nats-config says, else 65536")
	f.IntVar(&l.subscriptions, "max-subscriptions", 0, "limit of subscriptions of one connection; 0 = what --nats-config says, else none")
}

// parse reads the values and reports each problem to check.
func (l *limits) parse(check func(flag string, err error)) {
	for _, n := range []struct {
		flag  string
		value int
	}{
		{"max-mailboxes", l.mailboxes},
		{"max-mailbox-messages", l.mailboxMessages},
		{"max-connections", l.connections},
		{"max-subscriptions", l.subscriptions},
	} {
		if n.value < 0 {
			check(n.flag, fmt.Errorf("%d is negative: give a number, or 0 for no limit", n.value))
		}
	}
	var err error
	l.actors.Mailboxes, l.actors.MailboxMessages = l.mailboxes, l.mailboxMessages
	if l.memory == "" {
		l.actors.Memory, err = halfOfMemory()
	} else {
		l.actors.Memory, err = parseBytes(l.memory)
	}
	check("max-memory", err)
	l.actors.MailboxMemory, err = parseBytes(l.mailboxMemory)
	check("max-mailbox-memory", err)
}

// parseBytes reads a size as people write it: 100000, 512MB, 2GiB.
func parseBytes(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > 1<<62 {
		return 0, fmt.Errorf("%q is no size: give bytes, or a size such as 512MB or 2GiB", text)
	}
	return int64(n), nil
}

// halfOfMemory is half of what the machine has, bytes.
func halfOfMemory() (int64, error) {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0, errors.New("the machine's memory cannot be read: give a size")
	}
	return int64(info.Totalram/2) * int64(info.Unit), nil
}
