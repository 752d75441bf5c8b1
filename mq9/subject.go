package mq9

import "strings"

// Prefix begins every subject of the protocol; everything else belongs to plain NATS.
const Prefix = "$mq9."

// The subjects of protocol section 2. Those that end in a dot are followed by a mail_id.
const (
	SubjectCreate   = "$mq9.AI.MAILBOX.CREATE"
	SubjectDiscover = "$mq9.AI.PUBLIC.LIST"
	PrefixSend      = "$mq9.AI.MAILBOX.MSG."
	PrefixList      = "$mq9.AI.MAILBOX.LIST."
	PrefixDelete    = "$mq9.AI.MAILBOX.DELETE."
)

// Verb says what an operation on a subject does.
type Verb uint8

// The verbs of protocol section 2.
const (
	Create    Verb = iota + 1 // request on …CREATE
	Send                      // publish or request on …MSG.{mail_id}[.{priority}]
	List                      // request on …LIST.{mail_id}
	Delete                    // publish or request on …DELETE.{mail_id}.{msg_id}
	Discover                  // request on …PUBLIC.LIST
	Subscribe                 // SUB on …MSG.{mail_id}[.{priority}|.*]
	Watch                     // SUB on …PUBLIC.LIST
)

// Operation is a parsed subject. Which fields are set depends on the verb.
type Operation struct {
	Verb     Verb
	MailID   MailID
	Priority Priority    // Send
	Set      PrioritySet // Subscribe
	MsgID    MsgID       // Delete; zero (which no message has) when the token is no msg_id of ours
}

// ParsePublish reads the subject of a publish or request that begins with [Prefix].
func ParsePublish(subject string) (Operation, *Error) {
	switch subject {
	case SubjectCreate:
		return Operation{Verb: Create}, nil
	case SubjectDiscover:
		return Operation{Verb: Discover}, nil
	}
	if rest, ok := strings.CutPrefix(subject, PrefixSend); ok {
		address, priority := cutPriority(rest)
		id, err := parseAddress(address)
		return Operation{Verb: Send, MailID: id, Priority: priority}, err
	}
	if rest, ok := strings.CutPrefix(subject, PrefixList); ok {
		id, err := parseAddress(rest)
		return Operation{Verb: List, MailID: id}, err
	}
	if rest, ok := strings.CutPrefix(subject, PrefixDelete); ok {
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 {
			return Operation{}, Errorf(CodeBadRequest, "DELETE needs a mail_id and a msg_id: publish to %s{mail_id}.{msg_id}", PrefixDelete)
		}
		if rest[dot+1:] == "" || isWildcard(rest[dot+1:]) {
			return Operation{}, Errorf(CodeBadRequest, "the last token of DELETE must be one msg_id")
		}
		id, err := parseAddress(rest[:dot])
		msgID, _ := ParseMsgID(rest[dot+1:])
		return Operation{Verb: Delete, MailID: id, MsgID: msgID}, err
	}
	return Operation{}, errUnknownSubject(subject)
}

// ParseSubscribe reads the subject of a SUB that begins with [Prefix].
func ParseSubscribe(subject string) (Operation, *Error) {
	if subject == SubjectDiscover {
		return Operation{Verb: Watch}, nil
	}
	rest, ok := strings.CutPrefix(subject, PrefixSend)
	if !ok {
		return Operation{}, errUnknownSubject(subject)
	}
	if address, ok := strings.CutSuffix(rest, ".*"); ok {
		id, err := parseAddress(address)
		return Operation{Verb: Subscribe, MailID: id, Set: AllPriorities}, err
	}
	address, priority := cutPriority(rest)
	id, err := parseAddress(address)
	return Operation{Verb: Subscribe, MailID: id, Set: Only(priority)}, err
}

// cutPriority splits the priority token off the end; without one, the priority is normal.
func cutPriority(rest string) (address string, p Priority) {
	dot := strings.LastIndexByte(rest, '.')
	if p, ok := ParsePriority(rest[dot+1:]); ok {
		return rest[:max(dot, 0)], p
	}
	return rest, Normal
}

// parseAddress checks the mail_id part of a subject.
func parseAddress(address string) (MailID, *Error) {
	if address == "" {
		return "", Errorf(CodeBadRequest, "the subject has no mail_id: name the mailbox")
	}
	for token := range strings.SplitSeq(address, ".") {
		if isWildcard(token) {
			return "", Errorf(CodeForbidden, "wildcards cannot address mailboxes: name one mail_id (only its priority may be '*', in a SUB)")
		}
	}
	return ParseMailID(address)
}

func isWildcard(token string) bool { return token == "*" || token == ">" }

// errUnknownSubject refuses what the protocol does not define.
func errUnknownSubject(subject string) *Error {
	for token := range strings.SplitSeq(subject, ".") {
		if isWildcard(token) {
			return Errorf(CodeForbidden, "wildcards cannot span mailboxes: name one mail_id")
		}
	}
	return Errorf(CodeBadRequest, "unknown mq9 subject or wrong use: see MAILBOX.CREATE, MSG, LIST, DELETE and PUBLIC.LIST")
}

// AppendSendSubject appends the canonical send subject of a mailbox and priority: bare for normal, suffixed otherwise.
func AppendSendSubject(b []byte, id MailID, p Priority) []byte {
	b = append(append(b, PrefixSend...), id...)
	if p != Normal {
		b = append(append(b, '.'), p.String()...)
	}
	return b
}

// AppendDeleteSubject appends the subject that deletes one message; it is the reply subject of its deliveries.
func AppendDeleteSubject(b []byte, id MailID, msg MsgID) []byte {
	b = append(append(b, PrefixDelete...), id...)
	return msg.Append(append(b, '.'))
}
