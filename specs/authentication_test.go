package specs_test

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/crypto/bcrypt"

	"github.com/mq9-broker/broker/specs/harness"
)

// scheme is a way to authenticate: a configuration, who comes in, and CONNECTs that do not. %NONCE% stands for a signature of the
// server's nonce by a key that nobody knows.
type scheme struct {
	conf  string
	right nats.Option
	wrong []string
}

// Protocol section 1, and the front's first rule: nothing acts before the CONNECT is accepted.
var _ = DescribeTable("A client that was refused can do nothing: with",
	func(with func() scheme) {
		s := with()
		own := harness.StartBroker(program, "--nats-config", writeConfig(s.conf))
		agent := own.Connect(s.right)
		id := agent.Private()
		kept := agent.Send(id+urgent, "keep me")
		watcher := agent.Watch(harness.Discover)

		wrong := append([]string{"", "CONNECT {}\r\n", "CONNECT {\"verbose\":false\r\n", `CONNECT {"user":"%s","pass":null}` + "\r\n"}, s.wrong...)
		for _, connect := range wrong {
			raw := own.Dial()
			raw.Say(strings.ReplaceAll(connect, "%NONCE%", forged(raw.Infos[0])))
			raw.Pub(harness.Create+" _INBOX.me", `{"public":true,"name":"intruder"}`)
			raw.Say("SUB _INBOX.me 1\r\nSUB " + harness.Send + id + ".* 2\r\nSUB " + harness.Discover + " 3\r\n")
			raw.Pub(harness.Send+id+critical, "intruder")
			raw.Pub(harness.Send+id+" _INBOX.me", "intruder")
			raw.Pub(harness.ListOf+id+" _INBOX.me", "")
			raw.Pub(harness.Delete+id+"."+kept+" _INBOX.me", "")
			raw.Say("PING\r\n")
			for _, f := range raw.Until(harness.EOF) {
				Expect(f.Op).To(BeElementOf("-ERR", harness.EOF), "after %q", connect)
			}
		}
		Expect(agent.Stored(id)).To(Equal([]string{kept}))
		Expect(listed(agent)).To(BeEmpty())
		Expect(watcher.Payloads()).To(BeEmpty())
		Eventually(agent.Mailbox(id).Payloads).Should(Equal([]string{"keep me"}))
	},
	Entry("user and password", func() scheme {
		return scheme{
			`authorization { users [ { user: u, password: secret } ] }`, nats.UserInfo("u", "secret"),
			[]string{connect("user", "u", "pass", "wrong"), connect("user", "nobody", "pass", "secret"), connect("user", "u"), connect("auth_token", "secret")},
		}
	}),
	Entry("a password that is stored as a hash", func() scheme {
		hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
		Expect(err).NotTo(HaveOccurred())
		return scheme{
			fmt.Sprintf(`authorization { user: u, password: %q }`, hash), nats.UserInfo("u", "secret"),
			[]string{connect("user", "u", "pass", "wrong"), connect("user", "u", "pass", string(hash))},
		}
	}),
	Entry("a token", func() scheme {
		return scheme{
			`authorization { token: "open sesame" }`, nats.Token("open sesame"),
			[]string{connect("auth_token", "open"), connect("user", "open sesame"), connect("auth_token", "")},
		}
	}),
	Entry("an nkey", func() scheme {
		pair, public := newKey(nkeys.CreateUser)
		_, stranger := newKey(nkeys.CreateUser)
		return scheme{
			fmt.Sprintf(`authorization { users [ { nkey: %s } ] }`, public), nats.Nkey(public, pair.Sign),
			[]string{connect("nkey", public), connect("nkey", public, "sig", "%NONCE%"), connect("nkey", stranger, "sig", "%NONCE%")},
		}
	}),
	Entry("JWTs of an operator, accounts preloaded", func() scheme {
		o := newOperator()
		account := o.account("A", nil)
		token, seed := account.user(nil)
		strange := newOperator().account("A", nil)
		forgery, _ := strange.user(nil)
		late, _ := account.user(func(c *jwt.UserClaims) { c.Expires = 1 })
		return scheme{
			o.config(account), nats.UserJWTAndSeed(token, seed),
			[]string{
				connect("jwt", token), connect("jwt", token, "sig", "%NONCE%"), connect("jwt", forgery, "sig", "%NONCE%"),
				connect("jwt", late, "sig", "%NONCE%"), connect("jwt", token[:len(token)-4], "sig", "%NONCE%"), connect("user", "sys"),
			},
		}
	}),
	Entry("several accounts", func() scheme {
		return scheme{
			`accounts { RED { users [ { user: red, password: r } ] }, BLUE { users [ { user: blue, password: b } ] } }`, nats.UserInfo("red", "r"),
			[]string{connect("user", "red", "pass", "b"), connect("user", "RED", "pass", "r")},
		}
	}),
)

// accounts isolate mailboxes whatever the way to authenticate; config_test.go has the case of plain users.
var _ = Describe("Accounts of JWT users", func() {
	It("have mailboxes of their own", func() {
		o := newOperator()
		a, b := o.account("A", nil), o.account("B", nil)
		own := harness.StartBroker(program, "--nats-config", writeConfig(o.config(a, b)))
		red, blue := own.Connect(a.connect(nil)), own.Connect(b.connect(nil))
		id := red.Private()
		msgID := red.Send(id+urgent, "red")
		Expect(red.Create(public("same", 60)).IsNew).To(BeTrue())
		Expect(listed(blue)).To(BeEmpty())
		Expect(blue.Create(public("same", 60)).IsNew).To(BeTrue())
		for _, subject := range []string{harness.Send + id, harness.ListOf + id, harness.Delete + id + "." + msgID} {
			Expect(blue.Refused(subject, "").Code).To(Equal(404))
		}
		blue.Watch(harness.Send + id)
		Eventually(blue.Errors).Should(ConsistOf(ContainSubstring("404")))
		Expect(own.Connect(a.connect(nil)).Stored(id)).To(Equal([]string{msgID}), "another user of the account reaches it")
	})

	It("give permissions by user, by default, and by scoped signing key", func() {
		o := newOperator()
		scope, signer := newKey(nkeys.CreateAccount)
		account := o.account("A", func(c *jwt.AccountClaims) {
			c.DefaultPermissions.Pub.Deny.Add("$mq9.AI.MAILBOX.CREATE")
			role := jwt.NewUserScope()
			role.Key, role.Role = signer, "agent"
			role.Template.Pub.Allow.Add("$mq9.AI.MAILBOX.*.{{name()}}", "$mq9.AI.MAILBOX.*.{{name()}}.>", "_INBOX.>")
			c.SigningKeys.AddScopedSigner(role)
		})
		own := harness.StartBroker(program, "--nats-config", writeConfig(o.config(account)))
		all := own.Connect(account.connect(func(c *jwt.UserClaims) { c.Pub.Allow.Add(">") }))
		all.Create(public("joe", 60))
		all.Create(public("jim", 60))

		ordinary := own.Connect(account.connect(nil))
		Expect(ordinary.Conn.Publish(harness.Create, nil)).To(Succeed())
		ordinary.Sync()
		Eventually(ordinary.Errors).Should(ConsistOf(ContainSubstring("the permissions of this user")))
		ordinary.Send("jim", "hello")

		reader := own.Connect(account.connect(func(c *jwt.UserClaims) { c.Pub.Deny.Add(">") }))
		Eventually(reader.Mailbox("jim").Payloads).Should(Equal([]string{"hello"}))
		reader.Publish("jim", "no")
		reader.Sync()
		Eventually(reader.Errors).Should(HaveLen(1))

		account.signer = scope
		joe := own.Connect(account.connect(func(c *jwt.UserClaims) {
			c.Name = "joe"
			c.UserPermissionLimits = jwt.UserPermissionLimits{}
		}))
		joe.Send("joe", "mine")
		joe.Publish("jim", "not mine")
		joe.Sync()
		Eventually(joe.Errors).Should(ConsistOf(ContainSubstring("the permissions of this user")))
		Expect(all.Stored("jim")).To(HaveLen(1))
	})

	It("let in users that are restricted to standard connections, and no others", func() {
		o := newOperator()
		account := o.account("A", nil)
		own := harness.StartBroker(program, "--nats-config", writeConfig(o.config(account)))
		standard := own.Connect(account.connect(func(c *jwt.UserClaims) { c.AllowedConnectionTypes.Add(jwt.ConnectionTypeStandard) }))
		standard.Send(standard.Private(), "x")
		Expect(standard.Servers()).To(HaveLen(1), "clients are told of no other door")
		_, err := nats.Connect("nats://"+own.Addr, account.connect(func(c *jwt.UserClaims) { c.AllowedConnectionTypes.Add(jwt.ConnectionTypeMqtt) }))
		Expect(err).To(MatchError(nats.ErrAuthorization))
	})
})

var _ = Describe("TLS that verifies clients", func() {
	It("lets nobody in without a certificate that it trusts", func() {
		cert, key, pool := selfSigned()
		own := harness.StartBroker(program, "--nats-config", writeConfig(fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %[1]q, verify: true }", cert, key)))
		pair, err := tls.LoadX509KeyPair(cert, key)
		Expect(err).NotTo(HaveOccurred())
		agent := own.Connect(nats.Secure(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}))
		id := agent.Private()

		otherCert, otherKey, _ := selfSigned()
		other, err := tls.LoadX509KeyPair(otherCert, otherKey)
		Expect(err).NotTo(HaveOccurred())
		for _, certificates := range [][]tls.Certificate{nil, {other}} {
			_, err := nats.Connect("nats://"+own.Addr, nats.Secure(&tls.Config{RootCAs: pool, Certificates: certificates, MinVersion: tls.VersionTLS12}))
			Expect(err).To(HaveOccurred())
		}
		raw := own.Dial()
		raw.Say(harness.Ordinary)
		raw.Pub(harness.Send+id, "in plain text")
		Expect(raw.Until(harness.EOF)).To(HaveLen(1), "no answer to it")
		Expect(agent.Stored(id)).To(BeEmpty())
	})
})

// connect renders a quiet CONNECT of the given members.
func connect(members ...string) string {
	GinkgoHelper()
	m := map[string]any{"verbose": false, "headers": true}
	for i := 0; i < len(members); i += 2 {
		m[members[i]] = members[i+1]
	}
	line, err := json.Marshal(m)
	Expect(err).NotTo(HaveOccurred())
	return "CONNECT " + string(line) + "\r\n"
}

// forged signs the nonce of an INFO with a key that nobody knows.
func forged(info string) string {
	GinkgoHelper()
	var said struct {
		Nonce string `json:"nonce"`
	}
	Expect(json.Unmarshal([]byte(strings.TrimPrefix(info, "INFO ")), &said)).To(Succeed())
	pair, _ := newKey(nkeys.CreateUser)
	signature, err := pair.Sign([]byte(said.Nonce))
	Expect(err).NotTo(HaveOccurred())
	return base64.RawURLEncoding.EncodeToString(signature)
}

// newKey makes a key pair.
func newKey(create func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
	GinkgoHelper()
	pair, err := create()
	Expect(err).NotTo(HaveOccurred())
	public, err := pair.PublicKey()
	Expect(err).NotTo(HaveOccurred())
	return pair, public
}

// operator signs accounts.
type operator struct {
	key   nkeys.KeyPair
	token string
}

func newOperator() *operator {
	GinkgoHelper()
	key, public := newKey(nkeys.CreateOperator)
	token, err := jwt.NewOperatorClaims(public).Encode(key)
	Expect(err).NotTo(HaveOccurred())
	return &operator{key, token}
}

// tenant is an account: it signs users.
type tenant struct {
	signer        nkeys.KeyPair
	public, token string
}

// account makes an account; edit may change its claims.
func (o *operator) account(name string, edit func(*jwt.AccountClaims)) *tenant {
	GinkgoHelper()
	key, public := newKey(nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(public)
	claims.Name = name
	if edit != nil {
		edit(claims)
	}
	token, err := claims.Encode(o.key)
	Expect(err).NotTo(HaveOccurred())
	return &tenant{key, public, token}
}

// user makes a user's JWT and seed; edit may change the claims.
func (t *tenant) user(edit func(*jwt.UserClaims)) (token, seed string) {
	GinkgoHelper()
	key, public := newKey(nkeys.CreateUser)
	claims := jwt.NewUserClaims(public)
	claims.IssuerAccount = t.public
	if edit != nil {
		edit(claims)
	}
	token, err := claims.Encode(t.signer)
	Expect(err).NotTo(HaveOccurred())
	bytes, err := key.Seed()
	Expect(err).NotTo(HaveOccurred())
	return token, string(bytes)
}

// connect is what a client of a new user says.
func (t *tenant) connect(edit func(*jwt.UserClaims)) nats.Option {
	GinkgoHelper()
	return nats.UserJWTAndSeed(t.user(edit))
}

// config is the nats-server configuration in which the operator's accounts are preloaded.
func (o *operator) config(accounts ...*tenant) string {
	var preload strings.Builder
	for _, a := range accounts {
		fmt.Fprintf(&preload, "\t%s: %s\n", a.public, a.token)
	}
	return fmt.Sprintf("operator: %s\nresolver: MEMORY\nresolver_preload: {\n%s}\n", o.token, &preload)
}
