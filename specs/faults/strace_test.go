package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// waited is how long something that must end may take.
func waited() <-chan time.Time { return time.After(60 * time.Second) }

// traced prepares a broker that runs under strace, and returns where its system calls are written. The broker is the process that is
// started, strace its grandchild: so signals reach the broker.
func traced(options string, flags ...string) (*harness.Broker, string) {
	GinkgoHelper()
	strace, err := exec.LookPath("strace")
	Expect(err).NotTo(HaveOccurred(), "this spec needs strace: install it")
	dir := GinkgoT().TempDir()
	trace, wrapper := filepath.Join(dir, "trace"), filepath.Join(dir, "mq9")
	script := fmt.Sprintf("#!/bin/sh\nexec %s -D -f -o %s %s %s \"$@\"\n", strace, trace, options, program)
	Expect(os.WriteFile(wrapper, []byte(script), 0o700)).To(Succeed())
	return prepared(wrapper, flags...), trace
}

// syscalls is a trace: what was called and returned, in order.
type syscalls []syscallEvent

// syscallEvent is the beginning of a system call, its end, or both.
type syscallEvent struct {
	thread, name, args string
	begins, ends       bool
	ok                 bool // when it ends: it returned no error
}

// parse reads what strace wrote: `123 write(5, "…", 3) = 3`, or in two parts when threads interleave, `123 write(5, "…" <unfinished ...>` and
// `123 <... write resumed>) = 3`.
func parse(trace string) (calls syscalls) {
	GinkgoHelper()
	text, err := os.ReadFile(trace)
	Expect(err).NotTo(HaveOccurred())
	started := map[string]string{} // arguments of an unfinished call, by thread
	for line := range strings.Lines(string(text)) {
		thread, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		e := syscallEvent{thread: thread, ok: !strings.Contains(rest, " = -1 ") && !strings.Contains(rest, "= ?")}
		if resumed, ok := strings.CutPrefix(rest, "<... "); ok {
			var tail string
			e.name, tail, _ = strings.Cut(resumed, " resumed>")
			e.args, e.ends = started[thread]+tail, true
			calls = append(calls, e)
			continue
		}
		name, args, ok := strings.Cut(rest, "(")
		if !ok {
			continue // a signal, or the end of a thread
		}
		e.name, e.begins = name, true
		e.args, e.ends = strings.CutSuffix(args, "<unfinished ...>")
		e.ends = !e.ends
		started[thread] = e.args
		calls = append(calls, e)
	}
	return calls
}

// find returns the first place from a given one on of an event that is right, or -1.
func (s syscalls) find(from int, right func(syscallEvent) bool) int {
	for i := from; i < len(s); i++ {
		if right(s[i]) {
			return i
		}
	}
	return -1
}

func synced(e syscallEvent) bool { return e.name == "fdatasync" || e.name == "fsync" }

var _ = Describe("The order of system calls", func() {
	const calls = "-s 400 -e trace=read,write,writev,fdatasync,fsync"

	// requests sends n critical messages one after the other and returns what marks each of them.
	requests := func(b *harness.Broker, n int) (marks, ids []string) {
		GinkgoHelper()
		agent := b.Connect()
		id := agent.Private()
		agent.Send(id+critical, "the first one reserves ids")
		for i := range n {
			mark := fmt.Sprintf("mark-%d-end", i)
			marks, ids = append(marks, mark), append(ids, agent.Send(id+critical, mark))
		}
		return marks, ids
	}

	It("puts a sync that returned between the reading of a durable request and the writing of its reply", func() { // kind 1
		own, trace := traced(calls)
		own.Start()
		marks, ids := requests(own, 50)
		own.Stop()
		all, from := parse(trace), 0
		for i, mark := range marks {
			read := all.find(from, func(e syscallEvent) bool { return e.name == "read" && e.ends && strings.Contains(e.args, mark) })
			Expect(read).To(BeNumerically(">=", 0), "%s was not read", mark)
			replied := all.find(read, func(e syscallEvent) bool {
				return strings.HasPrefix(e.name, "write") && e.begins && strings.Contains(e.args, `\"msg_id\"`) && strings.Contains(e.args, ids[i])
			})
			Expect(replied).To(BeNumerically(">", read), "%s was not answered", mark)
			begun := all.find(read, func(e syscallEvent) bool { return synced(e) && e.begins })
			Expect(begun).To(And(BeNumerically(">", read), BeNumerically("<", replied)), "no sync began before the reply to %s", mark)
			ended := all.find(begun, func(e syscallEvent) bool { return synced(e) && e.ends && e.ok && e.thread == all[begun].thread })
			Expect(ended).To(And(BeNumerically(">=", begun), BeNumerically("<", replied)), "no sync returned before the reply to %s", mark)
			from = read
		}
	})

	It("has no sync for a message when the mode is never", func() {
		own, trace := traced(calls, "--sync", "never")
		own.Start()
		marks, ids := requests(own, 50)
		last := ids[len(ids)-1]
		own.Stop()
		all := parse(trace)
		first := all.find(0, func(e syscallEvent) bool { return e.name == "read" && e.ends && strings.Contains(e.args, marks[0]) })
		Expect(first).To(BeNumerically(">=", 0))
		replied := all.find(first, func(e syscallEvent) bool { return strings.HasPrefix(e.name, "write") && strings.Contains(e.args, last) })
		Expect(replied).To(BeNumerically(">", first))
		for _, e := range all[first:replied] {
			Expect(synced(e)).To(BeFalse(), "%+v", e)
		}
	})

	It("refuses with 503 what a failing sync did not put on disk, and recovers", func() {
		// The syncs of a start go well; some of those that follow do not.
		own, _ := traced("-e trace=fdatasync -e inject=fdatasync:error=EIO:when=30..35")
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		var acknowledged []string
		failed := 0
		Eventually(func() bool {
			msgID, code := send(agent, id+critical, "x")
			if code == 0 {
				acknowledged = append(acknowledged, msgID)
			} else {
				Expect(code).To(Equal(503))
				failed++
			}
			return failed > 0 && code == 0
		}).WithTimeout(60*time.Second).Should(BeTrue(), "it fails, and works again by itself")
		Eventually(own.Ready).Should(BeTrue())
		acknowledged = append(acknowledged, agent.Send(id+critical, "after"))
		Expect(agent.Stored(id)).To(ContainElements(acknowledged))
		own.Kill()
		plain := prepared(program)
		plain.DataDir = own.DataDir
		plain.Start()
		Expect(plain.Connect().Stored(id)).To(ContainElements(acknowledged))
	})
})
