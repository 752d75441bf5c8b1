package mq9

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// MaxNameBytes is the length limit of a public mailbox's name (protocol section 1).
const MaxNameBytes = 200

// MailID is a mailbox's address: a UUID for a private mailbox, the chosen name for a public one.
// A private MailID is a secret: show it only to the client that presented it, log it only hashed.
type MailID string

// NewMailID makes the address of a new private mailbox: a UUID v4 from the system's secure random source.
func NewMailID() MailID { return MailID(uuid.New().String()) }

// ParseMailID accepts what may stand in a subject as an address: a canonical UUID or a valid public name.
func ParseMailID(s string) (MailID, *Error) {
	if isPrivate(s) {
		return MailID(s), nil
	}
	if err := ValidateName(s); err != nil {
		return "", err
	}
	return MailID(s), nil
}

// Private reports whether the address has the form of a private mailbox's.
func (id MailID) Private() bool { return isPrivate(string(id)) }

// isPrivate is strict about the form that NewMailID makes, so that one mailbox has one spelling.
func isPrivate(s string) bool {
	const canonical = 36
	return len(s) == canonical && uuid.Validate(s) == nil && strings.ToLower(s) == s
}

// ValidateName checks a public mailbox's name against protocol section 1. The text of the refusal says which rule was broken.
func ValidateName(name string) *Error {
	bad := func(why string) *Error { return Errorf(CodeBadRequest, "invalid mailbox name: %s", why) }
	switch {
	case name == "":
		return bad("it is empty; give 1 to 200 bytes")
	case len(name) > MaxNameBytes:
		return bad("it is longer than 200 bytes; shorten it")
	case !utf8.ValidString(name):
		return bad("it is not valid UTF-8")
	case name[0] == '$':
		return bad("it starts with '$'; start it with another character")
	}
	for _, r := range name {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return bad("it holds white space or a control character; use dots, dashes or underscores")
		case r == '*' || r == '>':
			return bad("it holds a wildcard; remove '*' and '>'")
		}
	}
	last := ""
	for token := range strings.SplitSeq(name, ".") {
		if token == "" {
			return bad("it has an empty token; write single dots between tokens and none at the ends")
		}
		last = token
	}
	if _, reserved := ParsePriority(last); reserved {
		return bad("its last token is a priority; end it with another word")
	}
	if _, err := uuid.Parse(name); err == nil {
		return bad("it reads as a UUID, and those belong to private mailboxes; choose a word")
	}
	return nil
}

// MsgID identifies a message. It is never used twice by one data directory and grows in acceptance order (protocol section 5).
type MsgID uint64

// NewMsgID makes the id of a message from a number that is larger than all before and the priority, so that an id says
// in which queue its message stands.
func NewMsgID(number uint64, p Priority) MsgID { return MsgID(number<<2 | uint64(p)) }

// Priority is the priority that the id was made with. It is not below [Priorities] for an id this broker never made.
func (id MsgID) Priority() Priority { return Priority(id & 3) }

// msgIDDigits is base 32 in ASCII order, so that the fixed-width text sorts as the number does.
const (
	msgIDDigits = "0123456789abcdefghijklmnopqrstuv"
	msgIDLength = 13 // 13 digits of 5 bits hold 64 bits
)

// String renders the id as one NATS token of 13 characters.
func (id MsgID) String() string { return string(id.Append(nil)) }

// Append appends the text of the id to b.
func (id MsgID) Append(b []byte) []byte {
	var text [msgIDLength]byte
	for i := msgIDLength - 1; i >= 0; i-- {
		text[i] = msgIDDigits[id&31]
		id >>= 5
	}
	return append(b, text[:]...)
}

// ParseMsgID reads what String wrote. It reports false for any other text.
func ParseMsgID(s string) (MsgID, bool) {
	if len(s) != msgIDLength || s[0] > 'f' { // the first digit has four bits
		return 0, false
	}
	var id MsgID
	for i := range len(s) {
		d := strings.IndexByte(msgIDDigits, s[i])
		if d < 0 {
			return 0, false
		}
		id = id<<5 | MsgID(d)
	}
	return id, true
}
