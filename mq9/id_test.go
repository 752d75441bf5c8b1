package mq9_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

// The names of protocol section 1.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"a", "task.queue", "任务.队列", "A-b_c.1", "critical.tasks", "urgent.x.y", "normals", "Normal", "a.CRITICAL",
		"it's", `"quoted"`, "a$b", "emoji.🙂", "x" + private, strings.Repeat("n", 200), strings.Repeat("é", 100), "\u200b",
	} {
		if err := mq9.ValidateName(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
		if id, err := mq9.ParseMailID(name); err != nil || string(id) != name || id.Private() {
			t.Errorf("%q as an address: %q, private %v, %v", name, id, id.Private(), err)
		}
	}
	for name, rule := range map[string]string{
		"":                                   "empty",
		strings.Repeat("n", 201):             "longer than 200 bytes",
		strings.Repeat("é", 101):             "longer than 200 bytes",
		"a\xffb":                             "not valid UTF-8",
		"\xed\xa0\x80":                       "not valid UTF-8",
		"$":                                  "starts with '$'",
		"$SYS":                               "starts with '$'",
		"$mq9.AI":                            "starts with '$'",
		"a b":                                "white space",
		"a\tb":                               "white space",
		"a\r\nb":                             "white space",
		"a\u00a0b":                           "white space",
		"a\u2028b":                           "white space",
		"a\u3000b":                           "white space",
		"a\x00b":                             "control character",
		"a\x7fb":                             "control character",
		"a\u0085b":                           "control character",
		"*":                                  "wildcard",
		">":                                  "wildcard",
		"a*b":                                "wildcard",
		"a.>":                                "wildcard",
		".":                                  "empty token",
		".a":                                 "empty token",
		"a.":                                 "empty token",
		"a..b":                               "empty token",
		"critical":                           "priority",
		"urgent":                             "priority",
		"a.normal":                           "priority",
		private:                              "UUID",
		strings.ToUpper(private):             "UUID",
		"{" + private + "}":                  "UUID",
		"urn:uuid:" + private:                "UUID",
		strings.ReplaceAll(private, "-", ""): "UUID",
	} {
		err := mq9.ValidateName(name)
		expectRefusal(t, err, mq9.CodeBadRequest)
		if err != nil && !strings.Contains(err.Text, rule) {
			t.Errorf("%q: the refusal does not say %q: %v", name, rule, err)
		}
		if name == private {
			continue
		}
		if _, err := mq9.ParseMailID(name); err == nil {
			t.Errorf("%q is taken as an address", name)
		}
	}
}

func TestPrivateAddresses(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := map[mq9.MailID]bool{}
	for range 1000 {
		id := mq9.NewMailID()
		g.Expect(seen).NotTo(gomega.HaveKey(id))
		seen[id] = true
		u, err := uuid.Parse(string(id))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(u.Version()).To(gomega.BeEquivalentTo(4))
		g.Expect(id.Private()).To(gomega.BeTrue())
		parsed, refusal := mq9.ParseMailID(string(id))
		g.Expect(refusal).To(gomega.BeNil())
		g.Expect(parsed).To(gomega.Equal(id))
	}
	for _, other := range []mq9.MailID{"", "task", mq9.MailID(strings.ToUpper(private)), private + "0"} {
		g.Expect(other.Private()).To(gomega.BeFalse(), string(other))
	}
}

func TestMsgIDText(t *testing.T) {
	g := gomega.NewWithT(t)
	numbers := []mq9.MsgID{0, 1, 9, 10, 31, 32, 38, 1 << 20, math.MaxUint64 >> 4, math.MaxUint64 - 1, math.MaxUint64}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		numbers = append(numbers, mq9.MsgID(random.Uint64()>>random.IntN(64)))
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	token := regexp.MustCompile(`^[0-9a-v]{13}$`)
	last := ""
	for _, id := range numbers {
		text := id.String()
		g.Expect(token.MatchString(text)).To(gomega.BeTrue(), text)
		g.Expect(text > last).To(gomega.BeTrue(), "%s after %s: text sorts as the number", text, last)
		last = text
		parsed, ok := mq9.ParseMsgID(text)
		g.Expect(ok).To(gomega.BeTrue())
		g.Expect(parsed).To(gomega.Equal(id))
		g.Expect(string(id.Append([]byte("x.")))).To(gomega.Equal("x." + text))
	}
	g.Expect(mq9.MsgID(38).String()).To(gomega.Equal(msgID))
	for _, text := range []string{
		"", "0", "000000000000", "00000000000000", "000000000000w", "000000000000V", "g000000000000", "v000000000000",
		"00000000000.0", "000000000000 ", "00000000000é", "-000000000001",
	} {
		_, ok := mq9.ParseMsgID(text)
		g.Expect(ok).To(gomega.BeFalse(), text)
	}
}

func TestMsgIDKnowsItsPriority(t *testing.T) {
	g := gomega.NewWithT(t)
	last := mq9.MsgID(0)
	for number := range uint64(100) {
		p := mq9.Priority(number % mq9.Priorities)
		id := mq9.NewMsgID(number+1, p)
		g.Expect(id.Priority()).To(gomega.Equal(p))
		g.Expect(id).To(gomega.BeNumerically(">", last), "the number decides the order")
		last = id
	}
}
