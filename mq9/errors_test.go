package mq9_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

var codes = []int{
	mq9.CodeBadRequest, mq9.CodeForbidden, mq9.CodeNotFound, mq9.CodeConflict,
	mq9.CodeTooLarge, mq9.CodeLimit, mq9.CodeBug, mq9.CodeUnavailable,
}

// refusalFault says what is wrong with a refusal as such: an unknown code, or a text that no frame could carry.
func refusalFault(err *mq9.Error) string {
	switch {
	case err == nil:
		return "there is none"
	case !slices.Contains(codes, err.Code):
		return fmt.Sprintf("the code %d is not of the protocol", err.Code)
	case err.Text == "":
		return "the text is empty"
	case !utf8.ValidString(err.Text):
		return "the text is not UTF-8"
	case strings.ContainsFunc(err.Text, func(r rune) bool { return r < ' ' || r > '~' }):
		return "the text holds line breaks, controls or other than ASCII"
	}
	text := strings.ToLower(err.Text)
	if strings.Contains(text, "stale connection") || strings.Contains(text, "authorization violation") {
		return "the text makes clients drop their connection"
	}
	return ""
}

func expectRefusal(t *testing.T, err *mq9.Error, code int) {
	t.Helper()
	if fault := refusalFault(err); fault != "" {
		t.Errorf("no good refusal: %s: %v", fault, err)
	} else if err.Code != code {
		t.Errorf("refused with %d, not %d: %v", err.Code, code, err)
	}
}

func TestSharedRefusals(t *testing.T) {
	for err, code := range map[*mq9.Error]int{
		mq9.ErrNoMailbox:    404,
		mq9.ErrUnavailable:  503,
		mq9.ErrShuttingDown: 503,
		mq9.ErrInternal:     500,
	} {
		expectRefusal(t, err, code)
	}
}

func TestErrorsForClients(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(mq9.AsError(nil)).To(gomega.BeNil())
	g.Expect(mq9.AsError(mq9.ErrNoMailbox)).To(gomega.BeIdenticalTo(mq9.ErrNoMailbox))
	wrapped := fmt.Errorf("while doing this: %w", fmt.Errorf("%w (disk)", mq9.ErrUnavailable))
	g.Expect(mq9.AsError(wrapped)).To(gomega.BeIdenticalTo(mq9.ErrUnavailable))
	g.Expect(mq9.AsError(errors.New("secret"))).To(gomega.BeIdenticalTo(mq9.ErrInternal))
	g.Expect(mq9.Errorf(429, "at most %d", 5).Error()).To(gomega.Equal("429 at most 5"))

	var got map[string]any
	g.Expect(json.Unmarshal(mq9.Errorf(400, "say \"x\"\r\n").Encode(), &got)).To(gomega.Succeed())
	g.Expect(got).To(gomega.Equal(map[string]any{"error": "say \"x\"\r\n", "code": 400.0}))
}
