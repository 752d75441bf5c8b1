package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = It("nats.js creates, sends, receives in order, deletes, shares work, discovers, is refused and drains", func() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*commandTimeout)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "node", "agent.mjs", broker.Addr)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	Expect(err).NotTo(HaveOccurred(), "it printed %s and complained %s", &out, &errs)

	got := map[string]any{}
	for line := range strings.Lines(out.String()) {
		var said struct {
			Step  string `json:"step"`
			Value any    `json:"value"`
		}
		Expect(json.Unmarshal([]byte(line), &said)).To(Succeed(), line)
		got[said.Step] = said.Value
	}
	Expect(got).To(Equal(map[string]any{
		"created":   true,
		"received":  []any{"stop", "change", "task"},
		"headers":   true,
		"left":      0.0,
		"again":     false,
		"inherited": 5.0,
		"event":     "created",
		"listed":    true,
		"refused":   404.0,
		"denied":    true,
		"alive":     true,
		"drained":   true,
	}))
})
