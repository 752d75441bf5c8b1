package mq9_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// What protocol section 3 accepts.
func TestCreateRequests(t *testing.T) {
	const years = 315_360_000 // ten of 365 days, in seconds
	for body, want := range map[string]mq9.CreateRequest{
		"":                                {},
		" \r\n\t":                         {},
		"{}":                              {},
		" {} \n":                          {},
		`{"ttl":1}`:                       {TTL: 1},
		`{"ttl":3600}`:                    {TTL: 3600},
		`{"ttl":315360000}`:               {TTL: years},
		`{ "ttl" : 60 , "desc" : "d" }`:   {TTL: 60, Desc: "d"},
		`{"desc":""}`:                     {},
		`{"desc":"\u4efb\n\"x\""}`:        {Desc: "任\n\"x\""},
		`{"public":false}`:                {},
		`{"public":true,"name":"a.b"}`:    {Public: true, Name: "a.b"},
		`{"name":"a.b","public":true}`:    {Public: true, Name: "a.b"},
		`{"public":true,"name":"任务.队列"}`:  {Public: true, Name: "任务.队列"},
		`{"p\u0075blic":true,"name":"x"}`: {Public: true, Name: "x"},
		`{"mail_id":"` + private + `"}`:   {MailID: private},
		`{"mail_id":"` + private + `","ttl":9,"public":false}`: {MailID: private, TTL: 9},
		`{"max_inflight":0}`:                                        {},
		`{"max_inflight":1}`:                                        {MaxInflight: 1},
		`{"max_inflight":2147483648}`:                               {MaxInflight: 1 << 31},
		`{"desc":"` + strings.Repeat("x", 1024) + `"}`:              {Desc: strings.Repeat("x", 1024)},
		`{"public":true,"name":"` + strings.Repeat("n", 200) + `"}`: {Public: true, Name: mq9.MailID(strings.Repeat("n", 200))},
	} {
		t.Run(body, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParseCreateRequest([]byte(body))
			g.Expect(err).To(gomega.BeNil())
			g.Expect(got).To(gomega.Equal(want))
		})
	}
}

// What it refuses, and which field the refusal names.
func TestRefusedCreateRequests(t *testing.T) {
	refused := map[string]string{ // body: what the text says
		// broken JSON
		"null":                         "one JSON object",
		"[]":                           "one JSON object",
		"1":                            "one JSON object",
		`"ttl"`:                        "one JSON object",
		"ttl=60":                       "one JSON object",
		"{":                            "one JSON object",
		"}":                            "one JSON object",
		`{"ttl"}`:                      "one JSON object",
		`{"ttl":}`:                     "one JSON object",
		`{"ttl":60`:                    "one JSON object",
		`{"ttl":60,}`:                  "one JSON object",
		`{"ttl":60;"desc":1}`:          "one JSON object",
		`{ttl:60}`:                     "one JSON object",
		`{'ttl':60}`:                   "one JSON object",
		`{60:60}`:                      "one JSON object",
		`{"ttl":060}`:                  "ttl must be from 1",
		`{"max_inflight":060}`:         "one JSON object",
		`{"ttl":+60}`:                  "one JSON object",
		`{"desc":"a` + "\n" + `b"}`:    "one JSON object",
		"{}{}":                         "behind the JSON object",
		"{} x":                         "behind the JSON object",
		`{"ttl":60}]`:                  "behind the JSON object",
		"{\"desc\":\"\xff\"}":          "UTF-8",
		"\xef\xbb\xbf{}":               "one JSON object",
		`{"ttl":60,"ttl":61}`:          `key "ttl" stands twice`,
		`{"desc":"a","d\u0065sc":"a"}`: `key "desc" stands twice`,

		// unknown keys, by name
		`{"TTL":60}`:     `unknown key "TTL"`,
		`{"priority":1}`: `unknown key "priority"`,
		`{"":1}`:         `unknown key ""`,
		`{"任":1}`:        `unknown key "\u4efb"`,
		`{"a\r\nb":1}`:   `unknown key "a\r\nb"`,
		`{"` + strings.Repeat("k", 5000) + `":1}`: `unknown key "kkkk`,

		// wrong types
		`{"public":1}`:                "public must be true or false",
		`{"public":"true"}`:           "public must be true or false",
		`{"public":null}`:             "public must be true or false",
		`{"public":true,"name":1}`:    "name must be a string",
		`{"public":true,"name":null}`: "name must be a string",
		`{"desc":{}}`:                 "desc must be a string",
		`{"desc":null}`:               "desc must be a string",
		`{"mail_id":[]}`:              "mail_id must be a string",
		`{"mail_id":null}`:            "mail_id must be a string",

		// what does not go together
		`{"public":true}`:             "needs a name",
		`{"public":true,"desc":"a"}`:  "needs a name",
		`{"name":"a"}`:                "name is for public",
		`{"public":false,"name":"a"}`: "name is for public",
		`{"name":""}`:                 "name is for public",
		`{"public":true,"name":"a","mail_id":"` + private + `"}`: "mail_id is for private",
		`{"public":true,"name":"a","mail_id":""}`:                "mail_id is for private",

		// values out of bounds
		`{"public":true,"name":""}`:                      "invalid mailbox name",
		`{"public":true,"name":"a b"}`:                   "invalid mailbox name",
		`{"public":true,"name":"a.urgent"}`:              "invalid mailbox name",
		`{"public":true,"name":"` + private + `"}`:       "invalid mailbox name",
		`{"public":true,"name":"\ud800 "}`:               "invalid mailbox name",
		`{"mail_id":""}`:                                 "mail_id is not one",
		`{"mail_id":"a b"}`:                              "mail_id is not one",
		`{"mail_id":"` + strings.ToUpper(private) + `"}`: "mail_id is not one",
		`{"desc":"` + strings.Repeat("x", 1025) + `"}`:   "desc is longer than 1024 bytes",
		`{"desc":"` + strings.Repeat("任", 342) + `"}`:    "desc is longer than 1024 bytes",
	}
	for _, number := range []string{
		"-1", "-0", "1.5", "1.0", "60.0", `"60"`, "null", "true", "[]", "{}", "1e3", "1e30", "1E400",
		"9007199254740992", "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
		"9" + strings.Repeat("0", 400),
	} {
		refused[`{"ttl":`+number+`}`] = "ttl must be"
		refused[`{"max_inflight":`+number+`}`] = "max_inflight must be"
	}
	refused[`{"ttl":0}`] = "ttl must be from 1 to 315360000"
	refused[`{"ttl":2147483648}`] = "ttl must be from 1 to 315360000"
	refused[`{"ttl":315360001}`] = "ttl must be from 1 to 315360000"
	refused[`{"max_inflight":2147483649}`] = "max_inflight must be from 0 to 2147483648"

	for body, says := range refused {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			g := gomega.NewWithT(t)
			got, err := mq9.ParseCreateRequest([]byte(body))
			expectRefusal(t, err, mq9.CodeBadRequest)
			g.Expect(got).To(gomega.BeZero())
			g.Expect(err.Text).To(gomega.ContainSubstring(says))
			g.Expect(len(err.Text)).To(gomega.BeNumerically("<", 300))
			g.Expect(err.Text).NotTo(gomega.ContainSubstring(private))
		})
	}
}

func TestCreateReply(t *testing.T) {
	g := gomega.NewWithT(t)
	m := &mq9.Mailbox{
		Number: 5, Account: "A", ID: private, Desc: "not shown", TTL: 3600, Created: 1_700_000_000_123_456_789, MaxInflight: 1,
	}
	g.Expect(string(mq9.NewCreateReply(m, true).Encode())).To(gomega.Equal(
		`{"mail_id":"` + private + `","is_new":true,"public":false,"ttl":3600,` +
			`"created_at":"2023-11-14T22:13:20.123456789Z","expires_at":"2023-11-14T23:13:20.123456789Z"}`))

	m = &mq9.Mailbox{ID: "任务.<a>&\u2028", Public: true, TTL: mq9.MaxTTL, Created: 1_700_000_000_000_000_000}
	var got mq9.CreateReply
	g.Expect(json.Unmarshal(mq9.NewCreateReply(m, false).Encode(), &got)).To(gomega.Succeed())
	g.Expect(got).To(gomega.Equal(mq9.CreateReply{
		MailID: "任务.<a>&\u2028", Public: true, TTL: mq9.MaxTTL,
		CreatedAt: "2023-11-14T22:13:20Z", ExpiresAt: "2033-11-11T22:13:20Z",
	}))
	g.Expect(strconv.Itoa(mq9.MaxTTL)).To(gomega.Equal("315360000"))
}
