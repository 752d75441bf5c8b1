package mq9_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mq9-broker/broker/mq9"
)

var subjectSeeds = []string{
	"$mq9.AI.MAILBOX.CREATE", "$mq9.AI.PUBLIC.LIST", "$mq9.AI.MAILBOX.MSG.task.queue.critical", "$mq9.AI.MAILBOX.MSG." + private + ".*",
	"$mq9.AI.MAILBOX.LIST.任务", "$mq9.AI.MAILBOX.DELETE.task.queue." + msgID, "$mq9.AI.MAILBOX.MSG.task.>", "$mq9.AI.MAILBOX.MSG..critical",
	"$mq9.AI.MAILBOX.MSG.a\xff", "$mq9.AI.MAILBOX.DELETE.task", "$mq9.>", "$mq9.", "",
}

// FuzzParsePublish: a subject is refused well, or its rendering means the same; and no accepted address has a wildcard in it.
func FuzzParsePublish(f *testing.F) {
	for _, s := range subjectSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		op, err := mq9.ParsePublish(subject)
		if err != nil {
			mustBeGoodRefusal(t, err)
			return
		}
		var rendered string
		switch op.Verb {
		case mq9.Create:
			rendered = mq9.SubjectCreate
		case mq9.Discover:
			rendered = mq9.SubjectDiscover
		case mq9.Send:
			mustBeAddress(t, op.MailID)
			rendered = string(mq9.AppendSendSubject(nil, op.MailID, op.Priority))
		case mq9.Delete:
			mustBeAddress(t, op.MailID)
			rendered = string(mq9.AppendDeleteSubject(nil, op.MailID, op.MsgID))
		case mq9.List:
			mustBeAddress(t, op.MailID)
			rendered = "$mq9.AI.MAILBOX.LIST." + string(op.MailID)
		default:
			t.Fatalf("%q is a %d", subject, op.Verb)
		}
		again, err := mq9.ParsePublish(rendered)
		if err != nil || again != op {
			t.Errorf("%q is %+v, but its rendering %q is %+v, %v", subject, op, rendered, again, err)
		}
		canonical := rendered == subject ||
			op.Verb == mq9.Send && subject == rendered+".normal" ||
			op.Verb == mq9.Delete && op.MsgID == 0 // a foreign msg_id is forgotten
		if !canonical {
			t.Errorf("%q would be written as %q", subject, rendered)
		}
	})
}

// FuzzParseSubscribe: as FuzzParsePublish; the only wildcard that is ever accepted is the last token.
func FuzzParseSubscribe(f *testing.F) {
	for _, s := range subjectSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		op, err := mq9.ParseSubscribe(subject)
		if err != nil {
			mustBeGoodRefusal(t, err)
			return
		}
		if op.Verb == mq9.Watch {
			if subject != mq9.SubjectDiscover {
				t.Errorf("%q is discovery", subject)
			}
			return
		}
		mustBeAddress(t, op.MailID)
		bare := string(mq9.AppendSendSubject(nil, op.MailID, mq9.Normal))
		spellings := []string{bare + ".*"}
		if op.Set != mq9.AllPriorities {
			spellings = nil
			for p := range mq9.Priority(mq9.Priorities) {
				if op.Set == mq9.Only(p) {
					spellings = append(spellings, string(mq9.AppendSendSubject(nil, op.MailID, p)), bare+"."+p.String())
				}
			}
		}
		if op.Verb != mq9.Subscribe || !slices.Contains(spellings, subject) {
			t.Errorf("%q is %+v, whose spellings are %q", subject, op, spellings)
		}
	})
}

// FuzzParseCreateRequest: what is accepted is JSON, says what an independent decoder reads in it, and keeps every bound.
func FuzzParseCreateRequest(f *testing.F) {
	for _, s := range []string{
		"", "{}", `{"ttl":60,"desc":"d","max_inflight":1}`, `{"public":true,"name":"任务.队列"}`, `{"mail_id":"` + private + `"}`,
		`{"ttl":1e30}`, `{"ttl":9223372036854775808}`, `{"ttl":60}{}`, `{"desc":"\ud800"}`, `{"x":[{}]}`, `{"ttl":60,"ttl":60}`, "{\"a\xff\":1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, refusal := mq9.ParseCreateRequest(body)
		if refusal != nil {
			mustBeGoodRefusal(t, refusal)
			return
		}
		var want struct {
			TTL         *int64  `json:"ttl"`
			Public      bool    `json:"public"`
			Name        *string `json:"name"`
			Desc        string  `json:"desc"`
			MailID      *string `json:"mail_id"`
			MaxInflight int     `json:"max_inflight"`
		}
		mustDecode(t, body, &want)
		switch {
		case want.TTL != nil && (*want.TTL != got.TTL || got.TTL < 1 || got.TTL > mq9.MaxTTL), want.TTL == nil && got.TTL != 0:
			t.Errorf("%q has the ttl %d", body, got.TTL)
		case want.Public != got.Public, want.Desc != got.Desc, want.MaxInflight != got.MaxInflight:
			t.Errorf("%q is read as %+v", body, got)
		case len(got.Desc) > mq9.MaxDescBytes, got.MaxInflight < 0, got.MaxInflight > mq9.MaxMaxInflight:
			t.Errorf("%q is out of bounds: %+v", body, got)
		case got.Public != (want.Name != nil), got.Public != (got.Name != ""), got.Public && got.MailID != "":
			t.Errorf("%q mixes public and private: %+v", body, got)
		case (want.MailID != nil) != (got.MailID != ""):
			t.Errorf("%q confirms %q", body, got.MailID)
		}
		if got.Public {
			if err := mq9.ValidateName(string(got.Name)); err != nil || *want.Name != string(got.Name) {
				t.Errorf("%q has the name %q, %v", body, got.Name, err)
			}
		}
		if got.MailID != "" {
			mustBeAddress(t, got.MailID)
		}
	})
}

// FuzzParsePageRequest: as FuzzParseCreateRequest.
func FuzzParsePageRequest(f *testing.F) {
	for _, s := range []string{"", "{}", `{"limit":7,"after":"` + msgID + `"}`, `{"limit":0}`, `{"after":null}`, `{"limit":1.0}`, `[{}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, refusal := mq9.ParsePageRequest(body)
		if refusal != nil {
			mustBeGoodRefusal(t, refusal)
			return
		}
		want := struct {
			Limit int    `json:"limit"`
			After string `json:"after"`
		}{Limit: mq9.MaxPage}
		mustDecode(t, body, &want)
		if got.Limit != want.Limit || got.After != want.After || got.Limit < 1 || got.Limit > mq9.MaxPage {
			t.Errorf("%q is read as %+v", body, got)
		}
	})
}

// mustDecode reads an accepted body with the standard library, which must accept it too.
func mustDecode(t *testing.T, body []byte, into any) {
	t.Helper()
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || !json.Valid(body) {
		t.Fatalf("%q was accepted: %v", body, err)
	}
}

func mustBeGoodRefusal(t *testing.T, err *mq9.Error) {
	t.Helper()
	if fault := refusalFault(err); fault != "" {
		t.Errorf("%s: %v", fault, err)
	}
	var reply struct {
		Error string
		Code  int
	}
	if e := json.Unmarshal(err.Encode(), &reply); e != nil || reply.Error != err.Text || reply.Code != err.Code {
		t.Errorf("%v is sent as %s", err, err.Encode())
	}
}

func mustBeAddress(t *testing.T, id mq9.MailID) {
	t.Helper()
	if !id.Private() {
		if err := mq9.ValidateName(string(id)); err != nil {
			t.Errorf("%q is no address: %v", id, err)
		}
	}
	if strings.ContainsAny(string(id), "*> \r\n") {
		t.Errorf("%q breaks a frame", id)
	}
}
