package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mq9-broker/broker/frontend/admin"
)

// Look is what a broker said of itself at one time.
type Look struct {
	Status      admin.Status       `json:"status"`
	Mailboxes   []admin.Mailbox    `json:"mailboxes"` // the first ones: public by name, then private by age
	Groups      []admin.Group      `json:"groups"`
	Connections []admin.Connection `json:"connections"`
	More        bool               `json:"more"` // there is more of one of these than is listed
}

// most bounds what is listed of each kind.
const most = 1000

// broker is where to ask.
type broker struct {
	base  string // http://host:port
	token string // empty = none
	http  *http.Client
}

// look asks once. The error is one line that says what to mend.
func (b *broker) look(ctx context.Context) (*Look, error) {
	l := &Look{}
	var boxes admin.MailboxPage
	var groups admin.GroupPage
	var clients admin.ConnectionPage
	for path, into := range map[string]any{
		admin.StatusPath: &l.Status, admin.MailboxesPath: &boxes, admin.GroupsPath: &groups, admin.ConnectionsPath: &clients,
	} {
		if path != admin.StatusPath {
			path += fmt.Sprintf("?limit=%d", most)
		}
		if err := b.get(ctx, path, into); err != nil {
			return nil, err
		}
	}
	l.Mailboxes, l.Groups, l.Connections = boxes.Mailboxes, groups.Groups, clients.Connections
	l.More = boxes.Next != "" || groups.Next != "" || clients.Next != ""
	return l, nil
}

// get reads one object.
func (b *broker) get(ctx context.Context, path string, into any) (err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+path, nil)
	if err != nil {
		return err
	}
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	answer, err := b.http.Do(r)
	if err != nil {
		if why, ok := errors.AsType[*url.Error](err); ok {
			err = why.Err
		}
		return fmt.Errorf("no broker answers at %s: see that it runs and that --http is its address (%w)", b.base, err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	const longest = 64 << 20
	body := io.LimitReader(answer.Body, longest)
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		return errors.New("the broker asks for a token: give it in MQ9_HTTP_TOKEN")
	case answer.StatusCode != http.StatusOK:
		var refusal struct {
			Error string `json:"error"`
		}
		if json.NewDecoder(body).Decode(&refusal) == nil && refusal.Error != "" {
			return errors.New(refusal.Error)
		}
		return fmt.Errorf("what answers at %s is no mq9 broker (%s): name the broker's --http address", b.base, answer.Status)
	}
	if err := json.NewDecoder(body).Decode(into); err != nil {
		return fmt.Errorf("what answers at %s is no mq9 broker: name the broker's --http address (%w)", b.base, err)
	}
	return nil
}
