package mq9_test

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

const (
	private = "2f1b7a3e-6c1d-4a57-9d0a-0f6f3a2b1c4d"
	msgID   = "0000000000016"
)

// The grammar of protocol section 2, as publishers use it.
func TestParsePublish(t *testing.T) {
	send := func(id string, p mq9.Priority) mq9.Operation {
		return mq9.Operation{Verb: mq9.Send, MailID: mq9.MailID(id), Priority: p}
	}
	remove := func(id string, msg mq9.MsgID) mq9.Operation {
		return mq9.Operation{Verb: mq9.Delete, MailID: mq9.MailID(id), MsgID: msg}
	}
	for subject, want := range map[string]mq9.Operation{
		"$mq9.AI.MAILBOX.CREATE": {Verb: mq9.Create},
		"$mq9.AI.PUBLIC.LIST":    {Verb: mq9.Discover},

		// The bare form sends at normal, and .normal is its alias.
		"$mq9.AI.MAILBOX.MSG." + private:               send(private, mq9.Normal),
		"$mq9.AI.MAILBOX.MSG." + private + ".normal":   send(private, mq9.Normal),
		"$mq9.AI.MAILBOX.MSG." + private + ".urgent":   send(private, mq9.Urgent),
		"$mq9.AI.MAILBOX.MSG." + private + ".critical": send(private, mq9.Critical),

		// Names hold dots; the priority is the last token and no other.
		"$mq9.AI.MAILBOX.MSG.task":                        send("task", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.task.queue":                  send("task.queue", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.task.queue.critical":         send("task.queue", mq9.Critical),
		"$mq9.AI.MAILBOX.MSG.critical.queue":              send("critical.queue", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.urgent.queue.urgent":         send("urgent.queue", mq9.Urgent),
		"$mq9.AI.MAILBOX.MSG.任务.队列":                       send("任务.队列", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.任务.队列.urgent":                send("任务.队列", mq9.Urgent),
		"$mq9.AI.MAILBOX.MSG.Critical":                    send("Critical", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.task.CRITICAL":               send("task.CRITICAL", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.CREATE":                      send("CREATE", mq9.Normal),
		"$mq9.AI.MAILBOX.MSG.a." + private:                send("a."+private, mq9.Normal),
		"$mq9.AI.MAILBOX.MSG." + strings.Repeat("n", 200): send(strings.Repeat("n", 200), mq9.Normal),

		"$mq9.AI.MAILBOX.LIST." + private: {Verb: mq9.List, MailID: private},
		"$mq9.AI.MAILBOX.LIST.task.queue": {Verb: mq9.List, MailID: "task.queue"},
		"$mq9.AI.MAILBOX.LIST.a.LIST":     {Verb: mq9.List, MailID: "a.LIST"},

		// The msg_id is the last token; one that this broker never made deletes nothing.
		"$mq9.AI.MAILBOX.DELETE." + private + "." + msgID: remove(private, 38),
		"$mq9.AI.MAILBOX.DELETE.task.queue." + msgID:      remove("task.queue", 38),
		"$mq9.AI.MAILBOX.DELETE.task.queue":               remove("task", 0),
		"$mq9.AI.MAILBOX.DELETE.task.critical":            remove("task", 0),
	} {
		t.Run(subject, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParsePublish(subject)
			g.Expect(err).To(gomega.BeNil())
			g.Expect(got).To(gomega.Equal(want))
		})
	}
}

// The grammar of protocol section 2, as subscribers use it.
func TestParseSubscribe(t *testing.T) {
	take := func(id string, set mq9.PrioritySet) mq9.Operation {
		return mq9.Operation{Verb: mq9.Subscribe, MailID: mq9.MailID(id), Set: set}
	}
	for subject, want := range map[string]mq9.Operation{
		"$mq9.AI.PUBLIC.LIST": {Verb: mq9.Watch},

		"$mq9.AI.MAILBOX.MSG." + private:               take(private, mq9.Only(mq9.Normal)),
		"$mq9.AI.MAILBOX.MSG." + private + ".normal":   take(private, mq9.Only(mq9.Normal)),
		"$mq9.AI.MAILBOX.MSG." + private + ".urgent":   take(private, mq9.Only(mq9.Urgent)),
		"$mq9.AI.MAILBOX.MSG." + private + ".critical": take(private, mq9.Only(mq9.Critical)),
		"$mq9.AI.MAILBOX.MSG." + private + ".*":        take(private, mq9.AllPriorities),
		"$mq9.AI.MAILBOX.MSG.task.queue":               take("task.queue", mq9.Only(mq9.Normal)),
		"$mq9.AI.MAILBOX.MSG.task.queue.critical":      take("task.queue", mq9.Only(mq9.Critical)),
		"$mq9.AI.MAILBOX.MSG.task.queue.*":             take("task.queue", mq9.AllPriorities),
		"$mq9.AI.MAILBOX.MSG.任务.队列.*":                  take("任务.队列", mq9.AllPriorities),
	} {
		t.Run(subject, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParseSubscribe(subject)
			g.Expect(err).To(gomega.BeNil())
			g.Expect(got).To(gomega.Equal(want))
		})
	}
}

func TestRefusedSubjects(t *testing.T) {
	const both, publish, subscribe = "publish and subscribe", "publish", "subscribe"
	for subject, c := range map[string]struct {
		use  string
		code int
	}{
		// A wildcard anywhere in the mail_id part.
		"$mq9.AI.MAILBOX.MSG.*":                  {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.>":                  {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.*.*":                {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.task.>":             {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.*.critical":         {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.task.*.critical":    {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.*.queue":            {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG.task.*.*":           {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG." + private + ".>":  {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.MSG." + private + ".*":  {publish, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.LIST.*":                 {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.LIST.task.>":            {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.DELETE.*." + msgID:      {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.DELETE.task.*." + msgID: {both, mq9.CodeForbidden},
		"$mq9.>":                                 {both, mq9.CodeForbidden},
		"$mq9.*.MAILBOX.MSG." + private:          {both, mq9.CodeForbidden},
		"$mq9.AI.>":                              {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.*":                      {both, mq9.CodeForbidden},
		"$mq9.AI.MAILBOX.*." + private:           {both, mq9.CodeForbidden},
		"$mq9.AI.PUBLIC.*":                       {both, mq9.CodeForbidden},

		// Everything else under the prefix.
		"$mq9.":                                           {both, mq9.CodeBadRequest},
		"$mq9.AI":                                         {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX":                                 {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG":                             {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.":                            {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.critical":                    {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG..critical":                   {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG..*":                          {subscribe, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.task.":                       {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.task..queue":                 {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.task.urgent.urgent":          {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.task.urgent.*":               {subscribe, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.$task":                       {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.a*":                          {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.a\xff":                       {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG.a\u00a0b":                    {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG." + strings.ToUpper(private): {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.MSG." + strings.Repeat("n", 201): {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.CREATE.x":                        {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.CREATE":                          {subscribe, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.create":                          {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.FETCH.task":                      {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.LIST":                            {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.LIST.":                           {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.LIST.task":                       {subscribe, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.LIST.task.critical":              {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE":                          {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE.task":                     {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE.task.":                    {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE.task.*":                   {publish, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE.." + msgID:                {both, mq9.CodeBadRequest},
		"$mq9.AI.MAILBOX.DELETE.a." + msgID:               {subscribe, mq9.CodeBadRequest},
		"$mq9.AI.PUBLIC":                                  {both, mq9.CodeBadRequest},
		"$mq9.AI.PUBLIC.LIST.x":                           {both, mq9.CodeBadRequest},
		"$mq9.ai.PUBLIC.LIST":                             {both, mq9.CodeBadRequest},
		"$mq9.BI.PUBLIC.LIST":                             {both, mq9.CodeBadRequest},
	} {
		t.Run(subject, func(t *testing.T) {
			if c.use != subscribe {
				_, err := mq9.ParsePublish(subject)
				expectRefusal(t, err, c.code)
			}
			if c.use != publish {
				_, err := mq9.ParseSubscribe(subject)
				expectRefusal(t, err, c.code)
			}
		})
	}
}

func TestSubjectsThatTheBrokerWrites(t *testing.T) {
	g := gomega.NewWithT(t)
	for p, want := range map[mq9.Priority]string{
		mq9.Normal:   "x $mq9.AI.MAILBOX.MSG.task.queue",
		mq9.Urgent:   "x $mq9.AI.MAILBOX.MSG.task.queue.urgent",
		mq9.Critical: "x $mq9.AI.MAILBOX.MSG.task.queue.critical",
	} {
		g.Expect(string(mq9.AppendSendSubject([]byte("x "), "task.queue", p))).To(gomega.Equal(want))
	}
	g.Expect(string(mq9.AppendDeleteSubject([]byte("x "), "task.queue", 38))).To(
		gomega.Equal("x $mq9.AI.MAILBOX.DELETE.task.queue." + msgID))
}

func TestPriorities(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(mq9.Critical).To(gomega.BeNumerically("<", mq9.Urgent))
	g.Expect(mq9.Urgent).To(gomega.BeNumerically("<", mq9.Normal))
	for p := range mq9.Priority(mq9.Priorities) {
		parsed, ok := mq9.ParsePriority(p.String())
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(parsed).To(gomega.Equal(p))
		g.Expect(mq9.AllPriorities.Has(p)).To(gomega.BeTrue())
		for other := range mq9.Priority(mq9.Priorities) {
			g.Expect(mq9.Only(p).Has(other)).To(gomega.Equal(p == other))
		}
	}
	g.Expect(mq9.Priority(mq9.Priorities).String()).To(gomega.Equal("invalid"))
	for _, text := range []string{"", "Critical", "invalid", "*", "normal "} {
		_, ok := mq9.ParsePriority(text)
		g.Expect(ok).To(gomega.BeFalse(), text)
	}
	g.Expect(mq9.Critical.Durable()).To(gomega.BeTrue())
	g.Expect(mq9.Urgent.Durable()).To(gomega.BeTrue())
	g.Expect(mq9.Normal.Durable()).To(gomega.BeFalse())
}
