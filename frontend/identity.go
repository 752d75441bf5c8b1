package frontend

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
)

// refreshIdentity is how old what is known of a JWT user may be when he does something: his account's JWT may be
// replaced at any time, and with it the permissions that it gives by default.
const refreshIdentity = 5 * time.Second

// identity is who the embedded server takes a connection for.
type identity struct {
	account     string
	permissions *permissions // nil = everything is permitted
}

// credential is what a connection is looked up by. Immutable.
type credential struct {
	client uint64 // the embedded server's number for the connection
	jwt    string // as the client presented it, and the embedded server accepted it
}

// directory is what a configuration says of its users, kept in a form of our own: nats-server sorts its lists while it
// reloads. Immutable.
type directory struct {
	accounts   bool                           // clients may be in different accounts
	jwts       bool                           // users are in JWTs, not in the configuration
	callout    bool                           // users are known to a service that the embedded server asks
	listed     bool                           // users are named one by one
	restricted bool                           // some of them have permissions
	users      map[string]*server.Permissions // of those listed, by name or nkey
	sentinel   string                         // the JWT of clients that bring none
}

func newDirectory(o *server.Options) *directory {
	d := &directory{
		jwts:     len(o.TrustedOperators) > 0 || len(o.TrustedKeys) > 0,
		callout:  o.AuthCallout != nil,
		listed:   len(o.Users)+len(o.Nkeys) > 0 || o.AuthCallout != nil,
		users:    map[string]*server.Permissions{},
		sentinel: o.DefaultSentinel,
	}
	d.accounts = len(o.Accounts) > 0 || d.jwts || d.callout
	add := func(name string, p *server.Permissions) {
		if _, twice := d.users[name]; twice { // a name that is an nkey as well
			p = &server.Permissions{Publish: &server.SubjectPermission{Deny: []string{">"}}, Subscribe: &server.SubjectPermission{Deny: []string{">"}}}
		}
		d.users[name] = p
		d.restricted = d.restricted || p != nil
	}
	// A callout answers for all users but its own.
	asked := func(name string) bool { return d.callout && !slices.Contains(o.AuthCallout.AuthUsers, name) }
	for _, u := range o.Users {
		if !asked(u.Username) {
			add(u.Username, u.Permissions)
		}
	}
	for _, u := range o.Nkeys {
		if !asked(u.Nkey) {
			add(u.Nkey, u.Permissions)
		}
	}
	return d
}

// ages reports whether what is known of a user may become wrong without a reload.
func (d *directory) ages() bool { return d.jwts }

// identify finds out who a connection is. An error means that it is gone.
func (e *embedded) identify(c credential) (identity, error) {
	d := e.settings.Load().directory
	if !d.accounts && !d.restricted {
		return identity{account: globalAccount}, nil
	}
	z, err := e.server.Connz(&server.ConnzOptions{CID: c.client, Username: true})
	if err != nil {
		return identity{}, fmt.Errorf("embedded nats-server: %w", err)
	}
	if len(z.Conns) != 1 {
		return identity{}, errors.New("embedded nats-server: the connection is gone")
	}
	who := identity{account: z.Conns[0].Account}
	if who.account == "" { // Connz leaves the global one out
		who.account = globalAccount
	}
	switch {
	case d.jwts:
		if c.jwt == "" {
			c.jwt = d.sentinel
		}
		who.permissions = e.claimed(c.jwt, who.account)
	case d.listed:
		if p, ok := d.users[z.Conns[0].AuthorizedUser]; ok {
			who.permissions = newPermissions(p)
		} else {
			who.permissions = deniesAll() // let in by a callout, or under a name that is not his
		}
	}
	return who, nil
}

// claimed reads permissions out of the JWT with which a user was let in, and his account's. What cannot be read
// permits nothing.
func (e *embedded) claimed(token, account string) *permissions {
	user, err := jwt.DecodeUserClaims(token)
	if err != nil {
		return deniesAll()
	}
	z, err := e.server.Accountz(&server.AccountzOptions{Account: account})
	if err != nil || z.Account == nil || z.Account.Claim == nil {
		return deniesAll()
	}
	claims := z.Account.Claim
	home := user.IssuerAccount
	if home == "" {
		home = user.Issuer
	}
	if home != account || claims.Authorization.IsEnabled() && !claims.Authorization.AuthUsers.Contains(user.Subject) {
		return deniesAll() // a callout says who he is
	}
	granted := user.Permissions
	if scope, ok := claims.SigningKeys.GetScope(user.Issuer); ok && scope != nil {
		template, ok := scope.(*jwt.UserScope)
		if !ok {
			return deniesAll()
		}
		if granted, err = expandScope(template.Template.Permissions, user, claims); err != nil {
			return deniesAll()
		}
	}
	if p := fromClaims(granted); p != nil {
		return newPermissions(p)
	}
	return newPermissions(fromClaims(claims.DefaultPermissions))
}

// fromClaims turns the permissions of a JWT into nats-server's; nil when there are none.
func fromClaims(c jwt.Permissions) *server.Permissions {
	list := func(p jwt.Permission) *server.SubjectPermission {
		if len(p.Allow)+len(p.Deny) == 0 {
			return nil
		}
		return &server.SubjectPermission{Allow: p.Allow, Deny: p.Deny}
	}
	p := &server.Permissions{Publish: list(c.Pub), Subscribe: list(c.Sub)}
	if c.Resp != nil {
		p.Response = &server.ResponsePermission{MaxMsgs: c.Resp.MaxMsgs, Expires: c.Resp.Expires}
		if p.Response.MaxMsgs == 0 {
			p.Response.MaxMsgs = server.DEFAULT_ALLOW_RESPONSE_MAX_MSGS
		}
		if p.Response.Expires == 0 {
			p.Response.Expires = server.DEFAULT_ALLOW_RESPONSE_EXPIRATION
		}
		if p.Publish == nil {
			p.Publish = &server.SubjectPermission{}
		}
		if p.Publish.Allow == nil {
			p.Publish.Allow = []string{} // who may answer may publish nothing else, unless it is listed
		}
	}
	if p.Publish == nil && p.Subscribe == nil && p.Response == nil {
		return nil
	}
	return p
}
