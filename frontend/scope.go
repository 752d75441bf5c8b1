package frontend

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

// maxExpansions bounds how many subjects one list of a scoped signing key may become, as in nats-server.
const maxExpansions = 4096

// placeholder is what stands in a scoped signing key's subjects for something of the user.
var placeholder = regexp.MustCompile(`{{[^}]+}}`)

// expandScope fills in the subjects of a scoped signing key for one of its users. nats-server has done so when it let the user
// in; an error means that he is not understood here.
func expandScope(p jwt.Permissions, user *jwt.UserClaims, account *jwt.AccountClaims) (jwt.Permissions, error) {
	values := func(what string) ([]string, error) {
		tagged := func(tags jwt.TagList, name string) []string {
			var found []string
			for _, tag := range tags {
				if value, ok := strings.CutPrefix(tag, strings.ToLower(name)+":"); ok {
					found = append(found, value)
				}
			}
			return found
		}
		function, argument, _ := strings.Cut(strings.TrimSuffix(what, ")"), "(")
		switch strings.ToLower(function) {
		case "name":
			return []string{user.Name}, nil
		case "subject":
			return []string{user.Subject}, nil
		case "account-name":
			return []string{account.Name}, nil
		case "account-subject":
			return []string{account.Subject}, nil
		case "tag":
			return tagged(user.Tags, argument), nil
		case "account-tag":
			return tagged(account.Tags, argument), nil
		}
		return nil, fmt.Errorf("unknown placeholder %q", what)
	}
	var err error
	for _, direction := range []*jwt.Permission{&p.Pub, &p.Sub} {
		bounded := len(direction.Allow) > 0
		// What cannot be filled in allows nothing; but it must not deny nothing.
		if direction.Allow, err = expandList(direction.Allow, false, values); err != nil {
			return p, err
		}
		if direction.Deny, err = expandList(direction.Deny, true, values); err != nil {
			return p, err
		}
		if bounded && len(direction.Allow) == 0 {
			direction.Deny = append(direction.Deny, ">")
		}
	}
	return p, nil
}

// expandList fills in the subjects of a list: each becomes as many as its placeholders have values. One that does not become a
// subject is left out, or, when strict, an error.
func expandList(list jwt.StringList, strict bool, values func(what string) ([]string, error)) (jwt.StringList, error) {
	var made jwt.StringList
	var fill func(text string) error
	fill = func(text string) error {
		mark := placeholder.FindString(text)
		if mark == "" {
			if subject, _, _ := strings.Cut(text, " "); server.IsValidSubject(subject) {
				made = append(made, text)
			} else if strict {
				return fmt.Errorf("%q is no subject", text)
			}
			if len(made) > maxExpansions {
				return fmt.Errorf("more than %d subjects", maxExpansions)
			}
			return nil
		}
		options, err := values(strings.TrimSpace(mark[2 : len(mark)-2]))
		if err != nil {
			return err
		}
		if strict && len(options) == 0 {
			return fmt.Errorf("%s has no value", mark)
		}
		for _, value := range options {
			if strings.ContainsAny(value, "{} \t") {
				return fmt.Errorf("%q cannot stand in a subject", value)
			}
			if err := fill(strings.ReplaceAll(text, mark, value)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, text := range list {
		if err := fill(text); err != nil {
			return nil, err
		}
	}
	return made, nil
}
