package frontend

import (
	"strings"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mq9-broker/broker/mq9"
)

// keepVerdicts bounds the cache of a connection's publish verdicts.
const keepVerdicts = 256

// Refusals by permission.
var (
	errDenied  = mq9.Errorf(mq9.CodeForbidden, "the permissions of this user do not allow it")
	errUnknown = mq9.Errorf(mq9.CodeForbidden, "the permissions of this user are not known: mq9 does not serve users of an auth callout")
)

// permissions are what a NATS user may do, by nats-server's rules: a list that allows nothing but what it names if there
// is one, and a list that denies and has the last word. Guarded by session.calls, except that answers guards itself.
type permissions struct {
	publish   rules
	subscribe rules
	answers   *answers   // what may be published because it answers a delivery; nil when only the lists count
	refusal   *mq9.Error // what is told when they say no

	verdicts map[string]bool // of publish, by subject
}

// rules are the two lists of a direction. Immutable.
type rules struct {
	bounded bool // allow counts; otherwise everything is allowed that is not denied
	allow   []rule
	deny    []rule
}

// rule is one pattern, of one queue group only if it names one, which may be a pattern too. Immutable.
type rule struct{ subject, queue string }

// newPermissions reads a user's permissions; nil means that he may do everything.
func newPermissions(p *server.Permissions) *permissions {
	if p == nil {
		return nil
	}
	made := &permissions{refusal: errDenied, verdicts: map[string]bool{}}
	if p.Publish != nil {
		// An empty list, unlike none, allows nothing: that is how allow_responses alone is written.
		made.publish = newRules(p.Publish, p.Publish.Allow != nil)
	}
	if p.Subscribe != nil {
		made.subscribe = newRules(p.Subscribe, len(p.Subscribe.Allow) > 0)
	}
	if p.Response != nil {
		made.answers = newAnswers(p.Response.MaxMsgs, p.Response.Expires)
	}
	return made
}

func newRules(p *server.SubjectPermission, bounded bool) rules {
	parse := func(list []string) []rule {
		var parsed []rule
		for _, text := range list {
			if words := strings.Fields(text); len(words) == 1 {
				parsed = append(parsed, rule{subject: words[0]})
			} else if len(words) == 2 {
				parsed = append(parsed, rule{words[0], words[1]})
			}
		}
		return parsed
	}
	return rules{bounded, parse(p.Allow), parse(p.Deny)}
}

// after carries over what earlier permissions of the same user have to remember: the deliveries that may be answered.
func (p *permissions) after(earlier *permissions) *permissions {
	if p != nil && earlier != nil && p.answers.like(earlier.answers) {
		p.answers = earlier.answers
	}
	return p
}

// deniesAll are the permissions of a user of whom nothing is known.
func deniesAll() *permissions {
	nothing := rules{bounded: true}
	return &permissions{publish: nothing, subscribe: nothing, refusal: errUnknown, verdicts: map[string]bool{}}
}

// mayPublish reports whether a publish or request is permitted. It uses up an answer if that is what permits it.
// REQUIRES: session.calls.
func (p *permissions) mayPublish(subject string) bool {
	if p == nil {
		return true
	}
	allowed, known := p.verdicts[subject]
	if !known {
		allowed = p.publish.permit(subject, "")
		for _, alias := range aliases(subject) {
			allowed = allowed && !p.publish.denies(alias, "")
		}
		if !strings.HasPrefix(subject, mq9.PrefixDelete) { // every DELETE has a subject of its own
			if len(p.verdicts) >= keepVerdicts {
				clear(p.verdicts)
			}
			p.verdicts[subject] = allowed
		}
	}
	return allowed || p.answers != nil && p.answers.use(subject)
}

// maySubscribe reports whether a SUB is permitted. One to all priorities is not when any of them is denied: nats-server would
// grant it and keep back the denied part, of which the subscriber would hear nothing.
func (p *permissions) maySubscribe(subject, queue string) bool {
	if p == nil {
		return true
	}
	if !p.subscribe.permit(subject, queue) {
		return false
	}
	for _, alias := range aliases(subject) {
		if p.subscribe.denies(alias, queue) {
			return false
		}
	}
	return true
}

// permit applies the rules to a subject as it is written.
func (r *rules) permit(subject, queue string) bool {
	if r.bounded {
		plain, named, member := match(r.allow, subject, queue)
		// Where the list names queue groups for a subject, those alone may be joined.
		if named && !member || !named && !plain {
			return false
		}
	}
	return !r.denies(subject, queue)
}

func (r *rules) denies(subject, queue string) bool {
	plain, _, member := match(r.deny, subject, queue)
	return plain || member
}

// match looks a subject up in a list: plain says that a rule for everybody covers it, named that rules for queue groups
// do, and member that one of those covers the queue.
func match(list []rule, subject, queue string) (plain, named, member bool) {
	for _, r := range list {
		switch {
		case r.queue == "":
			plain = plain || matches(r.subject, subject)
		case queue != "" && matches(r.subject, subject):
			named = true
			member = member || matches(r.queue, queue)
		}
	}
	return plain, named, member
}

// aliases are the other subjects under which a mailbox's messages that the subject addresses are known: normal has two names, and
// `.*` stands for all. Denying one of them denies the messages.
func aliases(subject string) []string {
	if !strings.HasPrefix(subject, mq9.PrefixSend) {
		return nil
	}
	dot := strings.LastIndexByte(subject, '.')
	if dot < len(mq9.PrefixSend) { // a mail_id of one token
		return []string{subject + ".normal"}
	}
	bare := subject[:dot]
	switch subject[dot+1:] {
	case "*":
		return []string{bare, bare + ".normal", bare + ".urgent", bare + ".critical"}
	case "normal":
		return []string{bare}
	case "urgent", "critical":
		return nil
	}
	return []string{subject + ".normal"}
}
