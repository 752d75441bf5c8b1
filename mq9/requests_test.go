package mq9_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// A request that a client encodes is the request that the broker reads.
func TestEncodedRequests(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, want := range []mq9.CreateRequest{
		{},
		{TTL: 60, Desc: "a \"quoted\" 任务", MaxInflight: 3},
		{Public: true, Name: "task.队列"},
		{MailID: private},
	} {
		got, err := mq9.ParseCreateRequest(want.Encode())
		g.Expect(err).To(gomega.BeNil())
		g.Expect(got).To(gomega.Equal(want))
	}
	page, err := mq9.ParsePageRequest(mq9.PageRequest{Limit: 7, After: "x"}.Encode())
	g.Expect(err).To(gomega.BeNil())
	g.Expect(page).To(gomega.Equal(mq9.PageRequest{Limit: 7, After: "x"}))
	page, err = mq9.ParsePageRequest(mq9.PageRequest{}.Encode())
	g.Expect(err).To(gomega.BeNil())
	g.Expect(page).To(gomega.Equal(mq9.PageRequest{Limit: mq9.MaxPage}))
}

// The subjects that a client makes are those that the broker reads.
func TestClientSubjects(t *testing.T) {
	g := gomega.NewWithT(t)
	const box, msg = mq9.MailID("task.queue"), mq9.MsgID(77)
	for subject, want := range map[string]mq9.Operation{
		mq9.ListSubject(box):               {Verb: mq9.List, MailID: box},
		mq9.SendSubject(box, mq9.Normal):   {Verb: mq9.Send, MailID: box, Priority: mq9.Normal},
		mq9.SendSubject(box, mq9.Critical): {Verb: mq9.Send, MailID: box, Priority: mq9.Critical},
		mq9.DeleteSubject(box, msg):        {Verb: mq9.Delete, MailID: box, MsgID: msg},
	} {
		got, err := mq9.ParsePublish(subject)
		g.Expect(err).To(gomega.BeNil())
		g.Expect(got).To(gomega.Equal(want), subject)
	}
	got, err := mq9.ParseSubscribe(mq9.SubscribeSubject(box))
	g.Expect(err).To(gomega.BeNil())
	g.Expect(got).To(gomega.Equal(mq9.Operation{Verb: mq9.Subscribe, MailID: box, Set: mq9.AllPriorities}))
}

func TestReadReply(t *testing.T) {
	g := gomega.NewWithT(t)
	var sent mq9.SendReply
	g.Expect(mq9.ReadReply(mq9.AppendSent(nil, 77), &sent)).To(gomega.Succeed())
	g.Expect(sent.MsgID).To(gomega.Equal(mq9.MsgID(77).String()))
	g.Expect(mq9.ReadReply(mq9.ErrNoMailbox.Encode(), &sent)).To(gomega.Equal(mq9.ErrNoMailbox))
	for _, other := range []string{"", "+OK", "[]", `{"msg_id":7}`} {
		err := mq9.ReadReply([]byte(other), &sent)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no mq9 reply")), other)
	}
}
