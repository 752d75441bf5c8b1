package mq9

import (
	"encoding/json"
	"fmt"
)

// Encode renders the request as the JSON that [ParseCreateRequest] reads; what is zero is left out.
func (r CreateRequest) Encode() []byte {
	return encode(struct {
		TTL         int64  `json:"ttl,omitempty"`
		Public      bool   `json:"public,omitempty"`
		Name        MailID `json:"name,omitempty"`
		Desc        string `json:"desc,omitempty"`
		MailID      MailID `json:"mail_id,omitempty"`
		MaxInflight int    `json:"max_inflight,omitempty"`
	}{r.TTL, r.Public, r.Name, r.Desc, r.MailID, r.MaxInflight})
}

// Encode renders the request as the JSON that [ParsePageRequest] reads; a zero Limit leaves the size of the page to the broker.
func (r PageRequest) Encode() []byte {
	return encode(struct {
		Limit int    `json:"limit,omitempty"`
		After string `json:"after,omitempty"`
	}{r.Limit, r.After})
}

// SendReply answers a message that was sent as a request (protocol section 5).
type SendReply struct {
	MsgID string `json:"msg_id"`
}

// DeleteReply answers a DELETE (protocol section 6).
type DeleteReply struct {
	Deleted bool `json:"deleted"`
}

// ReadReply decodes the reply to a request into out. A refusal comes back as the [*Error] that it is; any other error
// says that the reply is none of this protocol.
func ReadReply(reply []byte, out any) error {
	var refusal struct {
		Error string `json:"error"`
		Code  int    `json:"code"`
	}
	if err := json.Unmarshal(reply, &refusal); err != nil {
		return fmt.Errorf("the reply is no mq9 reply: %w", err)
	}
	if refusal.Error != "" {
		return &Error{Code: refusal.Code, Text: refusal.Error}
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("the reply is no mq9 reply: %w", err)
	}
	return nil
}

// ListSubject is the subject that asks what a mailbox stores.
func ListSubject(id MailID) string { return PrefixList + string(id) }

// SendSubject is the canonical subject that sends to a mailbox; see [AppendSendSubject].
func SendSubject(id MailID, p Priority) string { return string(AppendSendSubject(nil, id, p)) }

// SubscribeSubject is the pattern that subscribes to all priorities of a mailbox.
func SubscribeSubject(id MailID) string { return PrefixSend + string(id) + ".*" }

// DeleteSubject is the subject that deletes one message; see [AppendDeleteSubject].
func DeleteSubject(id MailID, msg MsgID) string { return string(AppendDeleteSubject(nil, id, msg)) }
