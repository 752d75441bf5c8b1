package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	mail "github.com/mq9-broker/broker/mq9" // the tests of this package have an mq9 of their own
	"github.com/mq9-broker/broker/persistence"
)

// inspectFlags is what `mq9 inspect` is told.
type inspectFlags struct {
	dir        string
	json       bool
	showIDs    bool
	showBodies bool
}

func newInspect() *cobra.Command {
	var f inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect --data-dir DIR",
		Short: "Look at the data of a broker that does not run, or at a snapshot",
		Long: "Say what is stored in a data directory or a snapshot, without changing anything in it. The addresses of private\n" +
			"mailboxes are secrets and shown only with --show-ids; what was sent is shown only with --show-bodies.",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := persistence.Inspect(f.dir)
			if err != nil {
				return err
			}
			defer store.Close()
			report, err := inspect(store, &f, time.Now())
			if err != nil {
				return err
			}
			if f.json {
				e := json.NewEncoder(cmd.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(report)
			}
			return report.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&f.dir, "data-dir", "./data", "the `directory` to look at")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.showIDs, "show-ids", false, "list the mailboxes with their addresses, secrets included")
	cmd.Flags().BoolVar(&f.showBodies, "show-bodies", false, "list the messages with what is in them")
	return cmd
}

// inspection is the report.
type inspection struct {
	Dir       string         `json:"dir"`
	Snapshot  bool           `json:"snapshot"`
	Format    int            `json:"format"`
	FileBytes int64          `json:"file_bytes"`
	LogBytes  int64          `json:"log_bytes"`
	UsedIDs   uint64         `json:"used_ids"`
	Mailboxes mailboxCounts  `json:"mailboxes"`
	Tiers     []tierReport   `json:"tiers"`
	Listed    []mailboxEntry `json:"list,omitempty"`
}

// mailboxCounts counts mailboxes.
type mailboxCounts struct {
	Public  int `json:"public"`
	Private int `json:"private"`
	Expired int `json:"expired"` // among them, their time has passed: the broker will delete them when it starts
	Purging int `json:"purging"` // besides them, gone but for messages that are still to be deleted
}

// tierReport is what is stored at a priority.
type tierReport struct {
	Priority string     `json:"priority"`
	Messages int        `json:"messages"`
	Bytes    int64      `json:"bytes"` // headers and payloads
	Oldest   *time.Time `json:"oldest,omitempty"`
	Newest   *time.Time `json:"newest,omitempty"`
}

// mailboxEntry is a mailbox in the list that --show-ids and --show-bodies ask for.
type mailboxEntry struct {
	MailID   string         `json:"mail_id,omitempty"` // of a private mailbox only with --show-ids
	Account  string         `json:"account"`
	Public   bool           `json:"public"`
	Desc     string         `json:"desc,omitempty"`
	Created  time.Time      `json:"created_at"`
	Expires  time.Time      `json:"expires_at"`
	Messages int            `json:"messages"`
	Bytes    int64          `json:"bytes"`
	Bodies   []messageEntry `json:"bodies,omitempty"` // with --show-bodies
}

// messageEntry is a message in the list that --show-bodies asks for.
type messageEntry struct {
	MsgID    string    `json:"msg_id"`
	Priority string    `json:"priority"`
	Accepted time.Time `json:"ts"`
	Header   string    `json:"header,omitempty"`
	Payload  []byte    `json:"payload"` // base64 in JSON: it may be any bytes
}

// inspect counts and lists what is stored.
func inspect(store *persistence.Inspection, f *inspectFlags, now time.Time) (*inspection, error) {
	r := &inspection{
		Dir: f.dir, Snapshot: store.Snapshot, Format: store.Format, FileBytes: store.FileBytes, LogBytes: store.LogBytes,
		UsedIDs: store.UsedIDs, Mailboxes: mailboxCounts{Purging: store.Purging},
	}
	for p := range mail.Normal {
		r.Tiers = append(r.Tiers, tierReport{Priority: p.String()})
	}
	var boxes []mail.Mailbox // looked into afterwards: the store is being read
	err := store.Mailboxes(func(box mail.Mailbox) error {
		boxes = append(boxes, box)
		return nil
	})
	for i := 0; i < len(boxes) && err == nil; i++ {
		err = r.add(store, &boxes[i], f, now)
	}
	return r, err
}

// add counts one mailbox and what is in it.
func (r *inspection) add(store *persistence.Inspection, box *mail.Mailbox, f *inspectFlags, now time.Time) error {
	if box.Public {
		r.Mailboxes.Public++
	} else {
		r.Mailboxes.Private++
	}
	if !now.Before(box.ExpiresAt()) {
		r.Mailboxes.Expired++
	}
	e := mailboxEntry{
		Account: box.Account, Public: box.Public, Desc: box.Desc, Created: box.CreatedAt(), Expires: box.ExpiresAt(),
	}
	if box.Public || f.showIDs {
		e.MailID = string(box.ID)
	}
	err := store.Index(box.Number, func(m mail.Entry) {
		r.Tiers[m.Priority].add(m)
		e.Messages++
		e.Bytes += int64(m.Size)
	})
	if err == nil && f.showBodies {
		e.Bodies, err = readBodies(store, box.Number)
	}
	if f.showIDs || f.showBodies {
		r.Listed = append(r.Listed, e)
	}
	return err
}

func (t *tierReport) add(m mail.Entry) {
	t.Messages++
	t.Bytes += int64(m.Size)
	at := time.Unix(0, m.At).UTC()
	if t.Oldest == nil || at.Before(*t.Oldest) {
		t.Oldest = &at
	}
	if t.Newest == nil || at.After(*t.Newest) {
		t.Newest = &at
	}
}

// readBodies reads a mailbox's messages in delivery order.
func readBodies(store *persistence.Inspection, number uint64) (all []messageEntry, err error) {
	const atOnce = 1 << 20
	for p := range mail.Normal {
		for from := mail.MsgID(0); ; {
			read, err := store.Read(number, p, from, atOnce)
			if err != nil {
				return nil, err
			}
			if len(read) == 0 {
				break
			}
			for _, m := range read {
				all = append(all, messageEntry{
					m.ID.String(), p.String(), time.Unix(0, m.At).UTC(), string(m.Header), m.Payload,
				})
			}
			from = read[len(read)-1].ID + 1
		}
	}
	return all, nil
}
