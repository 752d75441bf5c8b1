package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/common/model"

	"github.com/mq9-broker/broker/mq9"
)

// duration is a flag that takes a time as people write it: 90s, 1h30m, 7d. It is a pflag.Value.
type duration struct{ value time.Duration }

// String renders the duration in the form that Set reads.
func (d *duration) String() string {
	if d.value == 0 {
		return ""
	}
	return model.Duration(d.value).String()
}

// Set reads the duration.
func (d *duration) Set(text string) error {
	v, err := model.ParseDuration(text)
	if err != nil {
		if strings.Trim(text, "0123456789") == "" && text != "" {
			return fmt.Errorf("%q has no unit: write %ss for seconds, %sm for minutes", text, text, text)
		}
		return fmt.Errorf("%q is no time: write it like 90s, 1h30m or 7d (units ms, s, m, h, d, w, y, the largest first)", text)
	}
	d.value = time.Duration(v)
	return nil
}

// Type is what the help calls the value.
func (d *duration) Type() string { return "time" }

// priority is a flag that names a priority. It is a pflag.Value.
type priority struct {
	value mq9.Priority
	given bool
}

// String is the name of the priority.
func (p *priority) String() string {
	if !p.given {
		return ""
	}
	return p.value.String()
}

// Set reads the name.
func (p *priority) Set(text string) error {
	v, ok := mq9.ParsePriority(strings.ToLower(text))
	if !ok {
		names := priorityNames()
		return fmt.Errorf("unknown priority %q%s (%s)", text, didYouMean(text, names), strings.Join(names, ", "))
	}
	p.value, p.given = v, true
	return nil
}

// Type is what the help calls the value.
func (p *priority) Type() string { return "priority" }

func priorityNames() []string {
	var names []string
	for p := range mq9.Priority(mq9.Priorities) {
		names = append(names, p.String())
	}
	return names
}

// headers is a flag that may be given many times, each a "Key: value" of a message. It is a pflag.Value.
type headers struct{ value nats.Header }

// String renders nothing: there is no default.
func (h *headers) String() string { return "" }

// Set adds one header.
func (h *headers) Set(text string) error {
	key, value, found := strings.Cut(text, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case !found || key == "":
		return fmt.Errorf("%q is no header: write it like 'Key: value'", text)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the key %q holds more than visible ASCII characters", key)
	case strings.ContainsAny(value, "\r\n\x00"):
		return fmt.Errorf("the value of %q holds a line break or a zero byte", key)
	case strings.HasPrefix(strings.ToLower(key), "mq9-"):
		return fmt.Errorf("headers that begin with Mq9- are the broker's own: choose another key than %q", key)
	}
	if h.value == nil {
		h.value = nats.Header{}
	}
	h.value.Add(key, value)
	return nil
}

// Type is what the help calls the value.
func (h *headers) Type() string { return "header" }

// mailbox reads the mail_id on a command line. What is wrong with it is said so that it can be mended, as far as can be guessed.
func mailbox(text string) (mq9.MailID, error) {
	id, err := mq9.ParseMailID(text)
	if err == nil {
		return id, nil
	}
	if lower := mq9.MailID(strings.ToLower(text)); lower.Private() {
		return "", usagef("private addresses are written in lower case: %s", lower)
	}
	if strings.HasPrefix(text, mq9.Prefix) || strings.HasPrefix(text, ".AI.") {
		return "", usagef("%q is a subject: give the mail_id alone, what stands behind MAILBOX.MSG", text)
	}
	if dot := strings.LastIndexByte(text, '.'); dot > 0 {
		if p, ok := mq9.ParsePriority(text[dot+1:]); ok {
			return "", usagef("%q ends with a priority: write %s --priority %s", text, text[:dot], p)
		}
	}
	return "", usagef("%q is no mail_id: %s", text, err.Text)
}
