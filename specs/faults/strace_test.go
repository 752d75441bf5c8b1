package faults_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// syncedBetween checks, from a place on, that what holds the mark was read, then a sync began and returned, and only then the answer
// was written. It returns the place of the reading.
func (s syscalls) syncedBetween(from int, mark, answer string) int {
	GinkgoHelper()
	read := s.find(from, func(e syscallEvent) bool { return e.name == "read" && e.ends && strings.Contains(e.args, mark) })
	Expect(read).To(BeNumerically(">=", 0), "%s was not read", mark)
	replied := s.find(read, func(e syscallEvent) bool {
		return strings.HasPrefix(e.name, "write") && e.begins && strings.Contains(e.args, answer)
	})
	Expect(replied).To(BeNumerically(">", read), "%s was not answered", mark)
	begun := s.find(read, func(e syscallEvent) bool { return synced(e) && e.begins })
	Expect(begun).To(And(BeNumerically(">", read), BeNumerically("<", replied)), "no sync began before the answer to %s", mark)
	ended := s.find(begun, func(e syscallEvent) bool { return synced(e) && e.ends && e.ok && e.thread == s[begun].thread })
	Expect(ended).To(And(BeNumerically(">=", begun), BeNumerically("<", replied)), "no sync returned before the answer to %s", mark)
	return read
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
			from = all.syncedBetween(from, mark, ids[i])
		}
	})

	It("puts one between the reading of a publish and the PONG of the flush behind it", func() { // kind 1
		own, trace := traced(calls)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		marks := []string{}
		for i := range 50 {
			marks = append(marks, fmt.Sprintf("mark-%d-end", i))
			agent.Publish(id+urgent, marks[i])
			agent.Sync()
		}
		own.Stop()
		all, from := parse(trace), 0
		for _, mark := range marks {
			from = all.syncedBetween(from, mark, "PONG")
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

	// The syncs of a start go well; some of those that follow do not. Each thread of the broker counts its own, so there are several
	// such times.
	const failing = "-e trace=fdatasync -e inject=fdatasync:error=EIO:when=30..31"

	// untilOne does something until it was refused once and then succeeded.
	untilOne := func(do func() (code int)) {
		GinkgoHelper()
		refused := false
		Eventually(func() bool {
			code := do()
			Expect(code).To(BeElementOf(0, 503))
			refused = refused || code == 503
			return refused && code == 0
		}).WithTimeout(60*time.Second).Should(BeTrue(), "it fails, and works again by itself")
	}

	It("refuses with 503 what a failing sync did not put on disk, and recovers", func() {
		own, _ := traced(failing)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		var acknowledged []string
		untilOne(func() int {
			msgID, code := send(agent, id+critical, "x")
			if code == 0 {
				acknowledged = append(acknowledged, msgID)
			}
			return code
		})
		Expect(agent.Stored(id)).To(ContainElements(acknowledged))
		own.Kill()
		plain := prepared(program)
		plain.DataDir = own.DataDir
		plain.Start()
		Expect(plain.Connect().Stored(id)).To(ContainElements(acknowledged))
	})

	It("leaves a mailbox readable in which it failed a deletion", func() {
		own, _ := traced(failing)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		untilOne(func() int {
			_, code := send(agent, id+critical, "x")
			if code == 503 {
				return code
			}
			left := agent.Stored(id)
			return agent.Refused(harness.Delete+id+"."+left[len(left)-1], "").Code
		})
		for range 3 {
			Eventually(func() int { _, code := send(agent, id+critical, "after"); return code }).Should(BeZero())
		}
		// The refused deletion may have taken effect or not: LIST and the replay agree about it in the end, and the next life too.
		feed := own.Connect().Mailbox(id)
		Eventually(func() bool { return slices.Equal(feed.IDs(), agent.Stored(id)) }).Should(BeTrue())
		stored := agent.Stored(id)
		own.Kill()
		plain := prepared(program)
		plain.DataDir = own.DataDir
		plain.Start()
		Expect(plain.Connect().Stored(id)).To(ContainElements(stored))
	})
})
