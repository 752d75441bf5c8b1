package client

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/mq9-broker/broker/mq9"
)

func newCreate() *cobra.Command {
	var (
		ttl             duration
		public, confirm string
		r               mq9.CreateRequest
	)
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Make a mailbox, or confirm that it is there",
		Long: "Make a mailbox and print its mail_id. Without --public it is private: its mail_id is random, and whoever knows it may send,\n" +
			"read and delete. Making a public mailbox again changes nothing, so every program may do it at its start.",
		Example: `  mq9 create --ttl 1h
  mq9 create --public task.queue --ttl 7d --desc 'work for anyone'
  box=$(mq9 create --ttl 90s) && mq9 watch "$box"`,
		SuggestFor: []string{"new", "mk", "make", "add", "mkbox"},
		Args:       exactly(),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(&ttl, "ttl", "how long the mailbox lives, from now (default what the broker is set to)")
	f.StringVar(&public, "public", "", "make a public mailbox of this `name`, which discover shows")
	f.StringVar(&r.Desc, "desc", "", "a `text` that discover shows beside the name")
	f.IntVar(&r.MaxInflight, "max-inflight", 0, "undeleted messages that one worker of a queue group may hold; 0 = no limit")
	f.StringVar(&confirm, "confirm", "", "make nothing: see that the private mailbox of this `mail_id` is still there")
	return finish(cmd, func(s *session, _ []string) error {
		r.Public, r.Name, r.MailID = public != "", mq9.MailID(public), mq9.MailID(confirm)
		if err := checkCreate(&r, ttl.value, cmd.Flags().Changed("ttl")); err != nil {
			return err
		}
		nc, err := s.connect("create")
		if err != nil {
			return err
		}
		defer nc.Close()
		var reply mq9.CreateReply
		if err := s.query(nc, mq9.SubjectCreate, r.Encode(), &reply); err != nil {
			return err
		}
		return s.created(&reply)
	})
}

// checkCreate finds what the broker would refuse and says it in terms of the flags.
func checkCreate(r *mq9.CreateRequest, ttl time.Duration, given bool) error {
	switch {
	case given && (ttl < time.Second || ttl%time.Second != 0):
		return usagef("--ttl: %v is not a whole number of seconds, at least one", ttl)
	case ttl > mq9.MaxTTL*time.Second:
		return usagef("--ttl: a mailbox lives ten years at most")
	case r.MaxInflight < 0 || r.MaxInflight > math.MaxInt32:
		return usagef("--max-inflight: give a number of messages, or 0 for no limit")
	case len(r.Desc) > mq9.MaxDescBytes:
		return usagef("--desc: it is longer than %d bytes", mq9.MaxDescBytes)
	case r.MailID != "" && r.Public:
		return usagef("--confirm is for private mailboxes: a public one is confirmed by making it again")
	case r.MailID != "" && !r.MailID.Private():
		return usagef("--confirm: give the mail_id of a private mailbox, as create printed it")
	}
	if r.Public {
		if err := mq9.ValidateName(string(r.Name)); err != nil {
			return usagef("--public: %s", err.Text)
		}
	}
	r.TTL = int64(ttl / time.Second)
	return nil
}

// created prints the reply: the mail_id alone, so that a shell can take it, and for a person what became of it.
func (s *session) created(reply *mq9.CreateReply) error {
	if s.json {
		return s.object(reply)
	}
	if _, err := fmt.Fprintln(s, reply.MailID); err != nil {
		return err
	}
	if !s.terminal {
		return nil
	}
	was, kind := "was there already", "private"
	if reply.IsNew {
		was = "is new"
	}
	if reply.Public {
		kind = "public"
	}
	s.note("the mailbox %s, %s, and lives until %s", was, kind, localTime(reply.ExpiresAt))
	return nil
}

// localTime shows a time of the protocol to a person.
func localTime(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return visible(text)
	}
	return t.Local().Format(time.DateTime)
}
