package frontend

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mq9-broker/broker/mq9"
)

const (
	tour     = "$mq9.AI.MAILBOX.MSG.tour"
	critical = tour + ".critical"
	noTour   = "404 no such mailbox: it never existed or has expired; CREATE it first"
)

func pub(subject, body string) string {
	return "PUB " + subject + " " + itoa(len(body)) + "\r\n" + body + "\r\n"
}

func TestSessionEndToEnd(t *testing.T) {
	f := startFront(t, Options{}, "")
	nc, err := nats.Connect("nats://" + f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if reply, err := nc.Request(mq9.SubjectCreate, []byte(`{"public":true,"name":"tour"}`), patience); err != nil || !strings.Contains(string(reply.Data), `"is_new":true`) {
		t.Fatalf("%v, %v", reply, err)
	}
	for _, subject := range []string{tour, critical, tour + ".urgent"} {
		reply, err := nc.Request(subject, []byte(subject), patience)
		if err != nil || !strings.HasPrefix(string(reply.Data), `{"msg_id":"`) {
			t.Fatalf("%v, %v", reply, err)
		}
	}
	sub, err := nc.SubscribeSync(tour + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{critical, tour + ".urgent", tour} {
		m, err := sub.NextMsg(patience)
		if err != nil || m.Subject != subject || string(m.Data) != subject {
			t.Fatalf("%v, %v", m, err)
		}
		if m.Header.Get("Mq9-Msg-Id") == "" || !strings.HasSuffix(m.Reply, m.Header.Get("Mq9-Msg-Id")) {
			t.Fatalf("no msg_id: %v", m)
		}
		if _, err := time.Parse(time.RFC3339Nano, m.Header.Get("Mq9-Timestamp")); err != nil {
			t.Fatal(err)
		}
		if err := m.Respond(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if reply, err := nc.Request("$mq9.AI.MAILBOX.LIST.tour", nil, patience); err != nil || string(reply.Data) != `{"mail_id":"tour","messages":[],"more":false}` {
		t.Fatalf("%s, %v", reply.Data, err)
	}
}

func TestSessionRefusals(t *testing.T) {
	f := startFront(t, Options{}, "max_payload: 1000")
	c := connect(t, f.Addr())
	c.create("tour")
	big := strings.Repeat("x", 1001)
	for _, x := range []struct {
		name, send string
		want       []string
	}{
		{
			"publish to nobody", pub("$mq9.AI.MAILBOX.MSG.no", "x"),
			[]string{`-ERR 'Permissions Violation for Publish to "$mq9.AI.MAILBOX.MSG.no": ` + noTour + `'`},
		},
		{
			"subscribe to nobody", "SUB $mq9.AI.MAILBOX.MSG.no.* 5\r\n",
			[]string{`-ERR 'Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.no.*": ` + noTour + `'`},
		},
		{"its UNSUB is ignored", "UNSUB 5\r\nUNSUB 6 1\r\n", nil},
		{
			"queue subscribe to nobody", "SUB $mq9.AI.MAILBOX.MSG.no q 5\r\n",
			[]string{`-ERR 'Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.no" using queue "q": ` + noTour + `'`},
		},
		{"wildcard", "SUB $mq9.> 5\r\n", []string{`-ERR 'Permissions Violation for Subscription to "$mq9.>": 403 …`}},
		{"wildcard mailbox", "SUB $mq9.AI.MAILBOX.MSG.* 5\r\n", []string{`-ERR 'Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.*": 403 …`}},
		{"no UTF-8", "SUB $mq9.AI.MAILBOX.MSG.\xff 5\r\n", []string{`-ERR 'Permissions Violation for Subscription to "$mq9.AI.MAILBOX.MSG.?": 400 …`}},
		{"LIST without reply", pub("$mq9.AI.MAILBOX.LIST.tour", ""), []string{`-ERR 'Permissions Violation for Publish to "$mq9.AI.MAILBOX.LIST.tour": 400 this subject is a request: give a reply subject'`}},
		{"event", pub(mq9.SubjectDiscover, "{}"), []string{`-ERR 'Permissions Violation for Publish to "$mq9.AI.PUBLIC.LIST": 403 …`}},
		{"watch with a queue", "SUB $mq9.AI.PUBLIC.LIST q 5\r\n", []string{`-ERR 'Permissions Violation for Subscription to "$mq9.AI.PUBLIC.LIST" using queue "q": 400 …`}},
		{"CREATE without reply is carried out", pub(mq9.SubjectCreate, `{"public":true,"name":"quiet"}`) + "PING\r\n" + pub("$mq9.AI.MAILBOX.MSG.quiet", "x"), []string{"PONG"}},
		{
			"header injection", "HPUB " + tour + " 27 27\r\nNATS/1.0\r\nA: b\nMq9-X: y\r\n\r\n\r\n",
			[]string{`-ERR 'Permissions Violation for Publish to "` + tour + `": 400 …`},
		},
		{"too large", pub(tour, big), []string{`-ERR 'Permissions Violation for Publish to "` + tour + `": 413 …`}},
		{
			"too large, as a request", "SUB in 7\r\nPUB " + tour + " in 1001\r\n" + big + "\r\nUNSUB 7\r\n",
			[]string{`MSG in 7 …`, `{"error":"the message is over max_payload: send less, or send a reference","code":413}`},
		},
		{"request of nobody", "SUB in 7\r\nPUB $mq9.AI.MAILBOX.MSG.no in 0\r\n\r\nUNSUB 7\r\n", []string{`MSG in 7 …`, `{"error":"no such mailbox…`}},
		{"unknown subject", pub("$mq9.foo", ""), []string{`-ERR 'Permissions Violation for Publish to "$mq9.foo": 400 …`}},
	} {
		c.send(x.send + "PING\r\n")
		c.expect(x.want...)
		if got := c.line(); got != "PONG" {
			t.Fatalf("%s: then came %q", x.name, got)
		}
	}
}

func TestSessionNothingActsBeforeConnect(t *testing.T) {
	f := startFront(t, Options{}, "")
	connect(t, f.Addr()).create("tour")
	c := dial(t, f.Addr())
	c.send(pub(tour, "x") + "SUB " + tour + " 1\r\nPING\r\n")
	c.expect(`-ERR 'Permissions Violation for Publish to "`+tour+`": 400 send CONNECT first'`,
		`-ERR 'Permissions Violation for Subscription to "`+tour+`": 400 send CONNECT first'`, "PONG")
	c.send("CONNECT {\"verbose\":false}\r\n" + pub(tour, "hello") + "SUB " + tour + " 1\r\n")
	c.expect("MSG "+tour+" 1 …", "hello")
}

func TestSessionNothingActsWithoutAuthorization(t *testing.T) {
	f := startFront(t, Options{}, "authorization { user: a, password: b, timeout: 5 }")
	good := dial(t, f.Addr())
	good.send("CONNECT {\"verbose\":false,\"user\":\"a\",\"pass\":\"b\"}\r\n")
	good.create("tour")
	bad := dial(t, f.Addr())
	bad.send("CONNECT {\"verbose\":false,\"user\":\"a\",\"pass\":\"x\"}\r\n" + pub(critical, "forged") + "PING\r\n")
	bad.expect("-ERR 'Authorization Violation'", "EOF")
	if list := good.request("$mq9.AI.MAILBOX.LIST.tour", ""); !strings.Contains(list, `"messages":[]`) {
		t.Fatalf("it acted: %s", list)
	}
}

func TestSessionAccountsAreNamespaces(t *testing.T) {
	f := startFront(t, Options{}, `
		accounts {
			A { users: [ { user: a, password: a, allowed_connection_types: ["STANDARD"] } ] }
			B { users: [ { user: b, password: b } ] }
		}`)
	join := func(user string, protocol int) *raw {
		c := dial(t, f.Addr())
		c.send(fmt.Sprintf("CONNECT {\"verbose\":false,\"user\":%q,\"pass\":%q,\"protocol\":%d}\r\n", user, user, protocol))
		return c
	}
	a, b := join("a", 0), join("b", 0)
	a.create("tour")
	b.create("tour")
	if again := a.request(mq9.SubjectCreate, `{"public":true,"name":"tour"}`); !strings.Contains(again, `"is_new":false`) {
		t.Fatal(again)
	}
	if sent := a.request(tour, "x"); !strings.Contains(sent, "msg_id") {
		t.Fatal(sent)
	}
	if list := b.request("$mq9.AI.MAILBOX.LIST.tour", ""); !strings.Contains(list, `"messages":[]`) {
		t.Fatal(list)
	}
	modern := join("a", 1)
	modern.send("PING\r\n")
	modern.expect("PONG", "INFO …")
	if list := modern.request("$mq9.AI.MAILBOX.LIST.tour", ""); !strings.Contains(list, `"size":1`) {
		t.Fatal(list)
	}
	// A second CONNECT moves the connection.
	modern.send("CONNECT {\"user\":\"b\",\"pass\":\"b\"}\r\n")
	if list := modern.request("$mq9.AI.MAILBOX.LIST.tour", ""); !strings.Contains(list, `"messages":[]`) {
		t.Fatal(list)
	}
}

func TestSessionVerbose(t *testing.T) {
	f := startFront(t, Options{}, "")
	connect(t, f.Addr()).create("tour")
	c := dial(t, f.Addr())
	c.send("CONNECT {\"verbose\":true,\"pedantic\":true}\r\n")
	c.expect("+OK")
	c.send(pub(tour, "one"))
	c.expect("+OK")
	c.send("SUB " + tour + " 1\r\n")
	c.expect("+OK", "MSG …", "one")
	c.send("UNSUB 1\r\nSUB in 2\r\n")
	c.expect("+OK", "+OK")
	c.send("PUB " + tour + " in 1\r\nx\r\n")
	c.expect("+OK", "MSG in 2 26", "…")
	c.send("UNSUB 1\r\nUNSUB 1\r\nUNSUB 2\r\n")
	c.expect("+OK", "+OK", "+OK")
	c.send("PUB $mq9.foo 0\r\n\r\nSUB $mq9.foo 3\r\nPING\r\n")
	c.expect(`-ERR '…`, `-ERR '…`, "PONG")
	// The reply to a foreign inbox is a frame of our own: its +OK is not the client's.
	other := connect(t, f.Addr())
	other.send("SUB foreign 1\r\nPING\r\n")
	other.expect("PONG")
	c.send("PUB " + tour + " foreign 1\r\nx\r\nPING\r\n")
	c.expect("+OK", "PONG")
	c.send("PUB a 0\r\n\r\nPING\r\n")
	c.expect("+OK", "PONG")
	other.expect("MSG foreign 1 26", "…")
}

func TestSessionRepliesStayPrivate(t *testing.T) {
	f := startFront(t, Options{}, "")
	spy := connect(t, f.Addr())
	spy.send("SUB > 1\r\nSUB $mq9.> 2\r\nSUB *.AI.> q 3\r\nSUB _INBOX.> 4\r\nPING\r\n")
	spy.expect(`-ERR 'Permissions Violation for Subscription to "$mq9.>": 403 …`, "PONG")
	c := connect(t, f.Addr())
	c.send("SUB _INBOX.me.* 1\r\nSUB _INBOX.me.a 2\r\nPUB " + mq9.SubjectCreate + " _INBOX.me.a 0\r\n\r\n")
	c.expect("MSG _INBOX.me.a 2 …", "{…", "MSG _INBOX.me.a 1 …", "{…")
	c.create("tour")
	c.send(pub(tour, "secret") + "SUB " + tour + " 9\r\n")
	c.expect("HMSG …")
	spy.send("PING\r\n")
	spy.expect("PONG")

	// A foreign inbox gets its reply through the embedded server; so the spy sees that one.
	c = connect(t, f.Addr())
	c.send("PUB " + tour + " elsewhere 1\r\nx\r\n")
	spy.expect("MSG elsewhere 1 26", "…")
}

func TestSessionReplyIntoAMailbox(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	c.create("answers")
	c.send("PUB " + tour + " $mq9.AI.MAILBOX.MSG.answers 1\r\nx\r\nPUB " + tour + " $mq9.nonsense 1\r\nx\r\nPING\r\n")
	c.expect(`-ERR 'Permissions Violation for Publish to "$mq9.nonsense": 400 …`, "PONG")
	c.send("SUB $mq9.AI.MAILBOX.MSG.answers 1\r\n")
	c.expect("HMSG …", "NATS/1.0", "Mq9-Msg-Id: …", "Mq9-Timestamp: …", "", `{"msg_id":…`)
}

func TestSessionAutoUnsubscribe(t *testing.T) {
	f := startFront(t, Options{Delivery: DeliverBare}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	for i := range 10 {
		c.send(pub(tour, itoa(i)))
	}
	three := []string{"MSG …", "0", "MSG …", "1", "MSG …", "2"}
	for range 20 {
		c.send("SUB " + tour + " 1\r\nUNSUB 1 3\r\nPING\r\n")
		c.expect(three...)
		c.expect("PONG")
	}
	// What was delivered counts; at its max a subscription ends at once.
	c.send("SUB " + tour + " 1\r\n")
	for range 10 {
		c.expect("MSG …", "…")
	}
	c.send("UNSUB 1 12\r\n" + pub(tour, "a") + pub(tour, "b") + pub(tour, "c"))
	c.expect("MSG …", "a", "MSG …", "b")
	c.send("PING\r\n")
	c.expect("PONG")
	c.send("SUB " + tour + " 2\r\n")
	for range 13 {
		c.expect("MSG …", "…")
	}
	c.send("UNSUB 2 5\r\n" + pub(tour, "d") + "PING\r\n")
	c.expect("PONG")
	// A request of the old style: the reply that we wrote ends its inbox.
	c.send("SUB in 3\r\nUNSUB 3 1\r\nPUB " + tour + " in 1\r\nx\r\n")
	c.expect("MSG in 3 26", "…")
	c.send(pub("in", "late") + "PUB " + tour + " in 1\r\nx\r\nPING\r\n")
	c.expect("PONG")
}

func TestSessionSIDs(t *testing.T) {
	f := startFront(t, Options{Delivery: DeliverBare}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	c.send(pub(critical, "x") + "PING\r\n")
	c.expect("PONG")
	c.send("SUB " + tour + ".* 1\r\nSUB plain 1\r\nSUB " + tour + ".* 1\r\nPING\r\n")
	c.expect("MSG "+critical+" 1 …", "x", "PONG")
	c.send("SUB plain 2\r\nSUB " + tour + ".* 2\r\n" + pub("plain", "y") + "PING\r\n")
	c.expect("MSG plain 2 1", "y", "PONG")
	c.send("UNSUB 1\r\nPING\r\n")
	c.expect("PONG")
	c.send("SUB " + critical + " 1\r\nSUB " + tour + ".* 3\r\nPING\r\n") // each gets its own set
	c.expect("MSG "+critical+" 1 …", "x", "MSG "+critical+" 3 …", "x", "PONG")
}

func TestSessionDeliversEveryByte(t *testing.T) {
	f := startFront(t, Options{}, "")
	nc, err := nats.Connect("nats://" + f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Request(mq9.SubjectCreate, []byte(`{"public":true,"name":"tour"}`), patience); err != nil {
		t.Fatal(err)
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	payloads := []string{"", string(all), "\r\nMSG x 1 1\r\n", "\xff\xfe", strings.Repeat("z", 1_000_000)}
	for _, p := range payloads {
		m := &nats.Msg{Subject: critical, Data: []byte(p), Header: nats.Header{"K": {"1", "2"}, "Mq9-Msg-Id": {"forged"}, "mq9-x": {"forged"}}}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	sub, err := nc.SubscribeSync(critical)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range payloads {
		m, err := sub.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Data) != p {
			t.Fatalf("payload %d changed", i)
		}
		if got := fmt.Sprint(m.Header["K"]); got != "[1 2]" || m.Header.Get("Mq9-Msg-Id") == "forged" || m.Header["mq9-x"] != nil {
			t.Fatalf("headers: %v", m.Header)
		}
	}
}

func TestSessionFlushIsABarrier(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	f.store.pause()
	c.send(pub(critical, "x") + "PING\r\n" + "SUB a 1\r\n" + pub("a", "later bytes pass it"))
	c.expect("MSG a 1 19", "later bytes pass it")
	c.send("PING\r\n")
	f.store.release()
	c.expect("PONG", "PONG")
}

func TestSessionBarrierTimeout(t *testing.T) {
	f := startFront(t, Options{BarrierTimeout: 50 * time.Millisecond}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	f.store.pause()
	c.send(pub(critical, "x") + "PING\r\n")
	c.expect("-ERR 'Stale Connection'", "EOF")
}

func TestSessionDiscovery(t *testing.T) {
	f := startFront(t, Options{}, "")
	c := connect(t, f.Addr())
	c.create("tour")
	c.send("SUB $mq9.AI.PUBLIC.LIST 1\r\n")
	c.expect("MSG $mq9.AI.PUBLIC.LIST 1 …", `{"event":"created","mail_id":"tour"…`)
	connect(t, f.Addr()).create("other")
	c.expect("MSG $mq9.AI.PUBLIC.LIST 1 …", `{"event":"created","mail_id":"other"…`)
	if reply := c.request(mq9.SubjectDiscover, `{"limit":1}`); !strings.HasPrefix(reply, `{"mailboxes":[{"mail_id":"other"`) || !strings.HasSuffix(reply, `"more":true}`) {
		t.Fatal(reply)
	}
}
