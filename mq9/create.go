package mq9

import (
	"encoding/json"
	"time"
)

// Bounds of a CREATE request (protocol section 3).
const (
	MaxTTL         = 10 * 365 * 24 * 60 * 60 // seconds: ten years of 365 days
	MaxDescBytes   = 1024
	MaxMaxInflight = 1 << 31
)

// CreateRequest is the body of a request on CREATE.
type CreateRequest struct {
	TTL         int64 // seconds; 0 = absent, the broker's default
	Public      bool
	Name        MailID // the chosen name; set exactly when Public
	Desc        string
	MailID      MailID // confirm this private mailbox; empty = make a new one
	MaxInflight int
}

// ParseCreateRequest reads and checks the body of a CREATE. Nothing is changed by a refused one.
func ParseCreateRequest(body []byte) (CreateRequest, *Error) {
	var (
		r              CreateRequest
		name, mailID   string
		named, address bool
	)
	err := object(body, func(key string, raw json.RawMessage) (err *Error) {
		var n int64
		switch key {
		case "ttl":
			r.TTL, err = whole(key, raw, 1, MaxTTL)
		case "public":
			r.Public, err = truth(key, raw)
		case "name":
			named = true
			name, err = text(key, raw)
		case "desc":
			r.Desc, err = text(key, raw)
		case "mail_id":
			address = true
			mailID, err = text(key, raw)
		case "max_inflight":
			n, err = whole(key, raw, 0, MaxMaxInflight)
			r.MaxInflight = int(n)
		default:
			err = Errorf(CodeBadRequest, "unknown key %s: use ttl, public, name, desc, mail_id, max_inflight", quote(key))
		}
		return err
	})
	if err != nil {
		return CreateRequest{}, err
	}
	switch {
	case len(r.Desc) > MaxDescBytes:
		return CreateRequest{}, Errorf(CodeBadRequest, "desc is longer than %d bytes: shorten it", MaxDescBytes)
	case r.Public && !named:
		return CreateRequest{}, Errorf(CodeBadRequest, "a public mailbox needs a name: add \"name\"")
	case !r.Public && named:
		return CreateRequest{}, Errorf(CodeBadRequest, "name is for public mailboxes: add \"public\": true, or leave name out")
	case r.Public && address:
		return CreateRequest{}, Errorf(CodeBadRequest, "mail_id is for private mailboxes: leave it out, the name is the address")
	}
	if r.Public {
		if err := ValidateName(name); err != nil {
			return CreateRequest{}, err
		}
		r.Name = MailID(name)
	}
	if address {
		if r.MailID, err = ParseMailID(mailID); err != nil {
			return CreateRequest{}, Errorf(CodeBadRequest, "mail_id is not one this broker made: leave it out to get a new mailbox")
		}
	}
	return r, nil
}

// CreateReply answers a CREATE.
type CreateReply struct {
	MailID    MailID `json:"mail_id"`
	IsNew     bool   `json:"is_new"`
	Public    bool   `json:"public"`
	TTL       int64  `json:"ttl"`
	CreatedAt string `json:"created_at"`
	ExpiresAt string `json:"expires_at"`
}

// NewCreateReply describes a mailbox to the one who created or confirmed it.
func NewCreateReply(m *Mailbox, isNew bool) CreateReply {
	return CreateReply{m.ID, isNew, m.Public, m.TTL, formatTime(m.CreatedAt()), formatTime(m.ExpiresAt())}
}

// Encode renders the reply as JSON.
func (r CreateReply) Encode() []byte { return encode(r) }

func formatTime(t time.Time) string { return t.Format(time.RFC3339Nano) }
