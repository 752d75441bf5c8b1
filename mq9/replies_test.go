package mq9_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestPageRequests(t *testing.T) {
	for body, want := range map[string]mq9.PageRequest{
		"":                          {Limit: 1000},
		"{}":                        {Limit: 1000},
		`{"limit":1}`:               {Limit: 1},
		`{"limit":1000}`:            {Limit: 1000},
		`{"after":""}`:              {Limit: 1000},
		`{"after":"` + msgID + `"}`: {Limit: 1000, After: msgID},
		`{"after":"任务","limit":7}`:  {Limit: 7, After: "任务"},
	} {
		t.Run(body, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParsePageRequest([]byte(body))
			g.Expect(err).To(gomega.BeNil())
			g.Expect(got).To(gomega.Equal(want))
		})
	}
	for body, says := range map[string]string{
		`{"limit":0}`:           "limit must be from 1 to 1000",
		`{"limit":1001}`:        "limit must be from 1 to 1000",
		`{"limit":-1}`:          "limit must be",
		`{"limit":1.5}`:         "limit must be",
		`{"limit":"1"}`:         "limit must be",
		`{"limit":null}`:        "limit must be",
		`{"limit":1e30}`:        "limit must be",
		`{"after":1}`:           "after must be a string",
		`{"after":null}`:        "after must be a string",
		`{"offset":1}`:          `unknown key "offset"`,
		`{"limit":1,"limit":1}`: "stands twice",
		`{"limit":1}{}`:         "behind the JSON object",
		"[]":                    "one JSON object",
	} {
		t.Run(body, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParsePageRequest([]byte(body))
			expectRefusal(t, err, mq9.CodeBadRequest)
			g.Expect(got).To(gomega.BeZero())
			g.Expect(err.Text).To(gomega.ContainSubstring(says))
		})
	}
}

func TestReplies(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(string(mq9.AppendSent(nil, 38))).To(gomega.Equal(`{"msg_id":"` + msgID + `"}`))
	g.Expect(string(mq9.EncodeDeleted(true))).To(gomega.Equal(`{"deleted":true}`))
	g.Expect(string(mq9.EncodeDeleted(false))).To(gomega.Equal(`{"deleted":false}`))

	m := &mq9.Message{
		ID: 38, Priority: mq9.Critical, At: 1_700_000_000_999_999_999, Header: []byte("K: v\r\n"), Payload: []byte("12345"),
	}
	g.Expect(m.Size()).To(gomega.Equal(11))
	page := mq9.ListReply{MailID: "a.b", Messages: []mq9.ListEntry{mq9.NewListEntry(m.Entry())}, More: true}
	g.Expect(string(page.Encode())).To(gomega.Equal(
		`{"mail_id":"a.b","messages":[{"msg_id":"` + msgID + `","priority":"critical","ts":1700000000,"size":5}],"more":true}`))
	page.Messages, page.More = []mq9.ListEntry{}, false
	g.Expect(string(page.Encode())).To(gomega.Equal(`{"mail_id":"a.b","messages":[],"more":false}`))
}

// Pages without entries show an empty list, also to languages in which null is none.
func TestEmptyPages(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(string(mq9.ListReply{MailID: "a"}.Encode())).To(gomega.Equal(`{"mail_id":"a","messages":[],"more":false}`))
	g.Expect(string(mq9.DiscoverReply{}.Encode())).To(gomega.Equal(`{"mailboxes":[],"more":false}`))
}

func TestListEntryBound(t *testing.T) {
	g := gomega.NewWithT(t)
	longest := mq9.NewListEntry(mq9.Entry{ID: math.MaxUint64, Priority: mq9.Critical, At: math.MinInt64, PayloadSize: math.MaxInt})
	b, err := json.Marshal(longest)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(b) + 1).To(gomega.BeNumerically("<=", mq9.MaxListEntryBytes))
}

func TestDiscovery(t *testing.T) {
	g := gomega.NewWithT(t)
	listing := mq9.NewListing(&mq9.Mailbox{
		Number: 5, Account: "A", ID: "task.queue", Public: true, Desc: `say "x"`, TTL: 60, Created: 1_700_000_000_000_000_000,
	})
	const described = `"mail_id":"task.queue","desc":"say \"x\"","ttl":60,` +
		`"created_at":"2023-11-14T22:13:20Z","expires_at":"2023-11-14T22:14:20Z"`
	g.Expect(string(listing.EncodeCreated())).To(gomega.Equal(`{"event":"created",` + described + `}`))
	g.Expect(string(listing.EncodeExpired())).To(gomega.Equal(`{"event":"expired","mail_id":"task.queue"}`))
	page := mq9.DiscoverReply{Mailboxes: []mq9.Listing{listing}, More: true}
	g.Expect(string(page.Encode())).To(gomega.Equal(`{"mailboxes":[{` + described + `}],"more":true}`))
}
