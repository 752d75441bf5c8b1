package mq9

import "encoding/json"

// MaxPage is the most entries that one page of LIST or of discovery holds, and the default.
const MaxPage = 1000

// PageRequest is the optional body of a LIST or a discovery request.
type PageRequest struct {
	Limit int    // 1 to MaxPage
	After string // a msg_id, or for discovery a mail_id; empty = from the start
}

// ParsePageRequest reads the body of a LIST or of a discovery request; an empty body asks for the first full page.
func ParsePageRequest(body []byte) (PageRequest, *Error) {
	r := PageRequest{Limit: MaxPage}
	err := object(body, func(key string, raw json.RawMessage) (err *Error) {
		switch key {
		case "limit":
			var n int64
			n, err = whole(key, raw, 1, MaxPage)
			r.Limit = int(n)
		case "after":
			r.After, err = text(key, raw)
		default:
			err = Errorf(CodeBadRequest, "unknown key %s: use limit, after", quote(key))
		}
		return err
	})
	if err != nil {
		return PageRequest{}, err
	}
	return r, nil
}

// Encode renders a refusal as the JSON reply to a request.
func (e *Error) Encode() []byte {
	return encode(struct {
		Error string `json:"error"`
		Code  int    `json:"code"`
	}{e.Text, e.Code})
}

// AppendSent appends the reply to a message sent as a request.
func AppendSent(b []byte, id MsgID) []byte {
	return append(id.Append(append(b, `{"msg_id":"`...)), `"}`...)
}

// EncodeDeleted renders the reply to a DELETE; existed is false when there was no such message.
func EncodeDeleted(existed bool) []byte {
	if existed {
		return []byte(`{"deleted":true}`)
	}
	return []byte(`{"deleted":false}`)
}

// ListReply is one page of what a mailbox stores (protocol section 6), in delivery order.
type ListReply struct {
	MailID   MailID      `json:"mail_id"`
	Messages []ListEntry `json:"messages"`
	More     bool        `json:"more"`
}

// ListEntry is one stored message of a ListReply.
type ListEntry struct {
	MsgID    string `json:"msg_id"`
	Priority string `json:"priority"`
	TS       int64  `json:"ts"`   // acceptance, Unix seconds
	Size     int    `json:"size"` // payload bytes
}

// MaxListEntryBytes is more than the JSON of one ListEntry and the comma behind it can take.
const MaxListEntryBytes = 112

// NewListEntry describes a stored message.
func NewListEntry(e Entry) ListEntry {
	return ListEntry{e.ID.String(), e.Priority.String(), e.At / 1e9, e.PayloadSize}
}

// Encode renders the page as JSON; one without entries has an empty list, not null.
func (r ListReply) Encode() []byte {
	if r.Messages == nil {
		r.Messages = []ListEntry{}
	}
	return encode(r)
}

// Listing is a public mailbox as discovery shows it (protocol section 7).
type Listing struct {
	MailID    MailID `json:"mail_id"`
	Desc      string `json:"desc"`
	TTL       int64  `json:"ttl"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
}

// NewListing describes a public mailbox.
func NewListing(m *Mailbox) Listing {
	return Listing{m.ID, m.Desc, m.TTL, formatTime(m.CreatedAt()), formatTime(m.ExpiresAt())}
}

// EncodeCreated renders the event that a public mailbox is there.
func (l Listing) EncodeCreated() []byte {
	return encode(struct {
		Event string `json:"event"`
		Listing
	}{"created", l})
}

// EncodeExpired renders the event that a public mailbox is gone.
func (l Listing) EncodeExpired() []byte {
	return encode(struct {
		Event  string `json:"event"`
		MailID MailID `json:"mail_id"`
	}{"expired", l.MailID})
}

// DiscoverReply is one page of the public mailboxes of an account, ordered by mail_id.
type DiscoverReply struct {
	Mailboxes []Listing `json:"mailboxes"`
	More      bool      `json:"more"`
}

// Encode renders the page as JSON; one without mailboxes has an empty list, not null.
func (r DiscoverReply) Encode() []byte {
	if r.Mailboxes == nil {
		r.Mailboxes = []Listing{}
	}
	return encode(r)
}
