package faults_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

// failing runs a broker that must end by itself, without a panic, with one clear line on standard error and a non-zero exit code. It
// returns the line.
func failing(b *harness.Broker) string {
	GinkgoHelper()
	return failingCommand(b.Command())
}

func failingCommand(cmd *exec.Cmd) string {
	GinkgoHelper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	Expect(cmd.Start()).To(Succeed())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is read from ProcessState
	}()
	select {
	case <-ended:
	case <-waited():
		Expect(cmd.Process.Kill()).To(Succeed())
		<-ended
		Fail("it started, or hangs: " + out.String() + errs.String())
	}
	Expect(cmd.ProcessState.ExitCode()).To(BeNumerically(">", 0), errs.String())
	Expect(out.String()).To(BeEmpty())
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	Expect(lines).To(HaveLen(1), errs.String())
	Expect(lines[0]).To(HavePrefix("mq9: "))
	return lines[0]
}

var _ = Describe("The log of what was written", func() {
	var (
		own   *harness.Broker
		id    string
		sent  []string
		left  []byte // of the log by a killed broker
		whole []byte // the same without the zeros that were set aside for more
		path  string
	)

	BeforeEach(func() {
		own = prepared(program)
		own.Start()
		agent := own.Connect()
		id, sent = agent.Private(), nil
		for i := range 60 {
			sent = append(sent, agent.Send(id+critical, fmt.Sprintf("%d %s", i, strings.Repeat("x", 1100))))
		}
		own.Kill()
		logs, err := filepath.Glob(filepath.Join(own.DataDir, "*.log"))
		Expect(err).NotTo(HaveOccurred())
		Expect(logs).NotTo(BeEmpty())
		path = slices.Max(logs)
		left, err = os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		whole = bytes.TrimRight(left, "\x00")
		Expect(len(whole)).To(BeNumerically(">", 60*500))
	})

	DescribeTable("opens with a torn end, up to there", // kind 5
		func(cut int) {
			Expect(os.Truncate(path, int64(len(whole)-cut))).To(Succeed())
			own.Start()
			agent := own.Connect()
			stored := agent.Stored(id)
			Expect(len(stored)).To(And(BeNumerically("<", 60), BeNumerically(">=", 60-cut/500-1)))
			Expect(stored).To(Equal(sent[:len(stored)]))
			feed := agent.Mailbox(id)
			Eventually(feed.IDs).Should(Equal(stored))

			// What comes next gets an id of its own and is kept.
			next := agent.Send(id+critical, "after the tear")
			Expect(next > sent[59]).To(BeTrue(), "an id that was lost in the tear must not come again")
			own.Restart()
			Expect(own.Connect().Stored(id)).To(Equal(append(stored, next)))
		},
		Entry("by a byte", 1),
		Entry("in the last record", 200),
		Entry("over several records", 5000),
	)

	DescribeTable("opens when sectors of the last record were never written", // kind 5
		func(first, last int) {
			const sector = 512
			end := (len(whole) - 1) / sector
			torn := slices.Clone(left)
			clear(torn[(end+first)*sector : (end+last+1)*sector]) // the record has more than two sectors
			Expect(os.WriteFile(path, torn, 0o600)).To(Succeed())
			own.Start()
			Expect(own.Connect().Stored(id)).To(Equal(sent[:59]))
		},
		Entry("the last", 0, 0),
		Entry("the one before", -1, -1),
		Entry("both", -1, 0),
	)

	It("opens when garbage was appended to it", func() {
		Expect(os.WriteFile(path, append(slices.Clone(whole), "\x17garbage of a torn write\xff"...), 0o600)).To(Succeed())
		own.Start()
		Expect(own.Connect().Stored(id)).To(Equal(sent))
	})

	DescribeTable("does not open with a flipped bit in the middle, and says so in one line", // kind 5
		func(where float64) {
			damaged := slices.Clone(left)
			damaged[int(float64(len(whole))*where)] ^= 0x04
			Expect(os.WriteFile(path, damaged, 0o600)).To(Succeed())
			line := failing(own)
			Expect(line).To(And(ContainSubstring(own.DataDir), ContainSubstring("damaged")))
			Expect(line).NotTo(ContainSubstring(id), "a private mail_id is a secret")
			Expect(failing(own)).To(Equal(line), "and again")

			Expect(os.WriteFile(path, left, 0o600)).To(Succeed(), "the refusals changed nothing")
			own.Start()
			Expect(own.Connect().Stored(id)).To(Equal(sent))
		},
		Entry("early", 0.1),
		Entry("half-way", 0.5),
		Entry("late", 0.9),
	)

	It("does not open with a missing log of which the rest knows", func() {
		manifest := filepath.Join(own.DataDir, "CURRENT")
		Expect(os.WriteFile(manifest, []byte("MANIFEST-999999\n"), 0o600)).To(Succeed())
		Expect(failing(own)).To(ContainSubstring(own.DataDir))
	})
})

var _ = Describe("A data file with a flipped bit", func() {
	It("ends a replay before what it damaged, with a line in the log, and costs no other mailbox", func() {
		own := prepared(program)
		own.Start()
		agent := own.Connect()
		id, name := agent.Private(), "undamaged"
		agent.Create(`{"public":true,"name":"undamaged","ttl":600}`)
		var payloads []string
		for i := range 100 {
			payloads = append(payloads, fmt.Sprintf("%d %s", i, strings.Repeat("x", 5000)))
			agent.Send(id+critical, payloads[i])
		}
		own.Restart() // what was in the log becomes a file
		own.Kill()
		files, err := filepath.Glob(filepath.Join(own.DataDir, "*.sst"))
		Expect(err).NotTo(HaveOccurred())
		Expect(files).NotTo(BeEmpty())
		largest := slices.MaxFunc(files, func(a, b string) int { return cmp.Compare(size(a), size(b)) })
		bytes, err := os.ReadFile(largest)
		Expect(err).NotTo(HaveOccurred())
		bytes[len(bytes)/3] ^= 0x10
		Expect(os.WriteFile(largest, bytes, 0o600)).To(Succeed())

		own.Start()
		agent = own.Connect()
		feed := agent.Watch(harness.Send + id + ".*")
		Eventually(own.Log).Should(ContainSubstring("Corruption"))
		agent.Sync()
		seen := feed.Payloads()
		Expect(len(seen)).To(BeNumerically("<", len(payloads)))
		Expect(seen).To(Equal(payloads[:len(seen)]), "rather nothing than something wrong")

		sent := agent.Send(name+critical, "fine")
		Expect(agent.Stored(name)).To(Equal([]string{sent}))
		Expect(agent.Delete(name, sent)).To(BeTrue())
	})
})

func size(file string) int64 {
	GinkgoHelper()
	info, err := os.Stat(file)
	Expect(err).NotTo(HaveOccurred())
	return info.Size()
}

var _ = Describe("A data directory", func() {
	It("that may not be read stops the start with one clear line", func() {
		own := prepared(program)
		own.Start()
		own.Kill()
		// As somebody who may enter the directories above, and not this one. Root may everything.
		for _, dir := range []string{filepath.Dir(own.DataDir), filepath.Dir(filepath.Dir(own.DataDir))} {
			Expect(os.Chmod(dir, 0o755)).To(Succeed())
		}
		Expect(os.Chmod(own.DataDir, 0)).To(Succeed())
		cmd := own.Command()
		cmd.Dir = "/"
		if len(mappedIDs()) > 1 { // not in a namespace of one user, where nobody is anybody else
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		} else {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER} // it maps nobody, so whoever is in it is nobody
		}
		Expect(failingCommand(cmd)).To(ContainSubstring(own.DataDir))
	})

	It("on a file system that is read-only stops the start with one clear line", func() {
		own, disk := onDisk(16)
		own.Start()
		id := own.Connect().Private()
		own.Stop()
		remount := func(flags uintptr) {
			Expect(syscall.Mount("", disk.path, "", syscall.MS_REMOUNT|flags, "")).To(Succeed())
		}
		remount(syscall.MS_RDONLY)
		Expect(failing(own)).To(ContainSubstring(own.DataDir))
		remount(0)
		own.Start()
		Expect(own.Connect().Stored(id)).To(BeEmpty())
	})

	It("is one broker's alone at every instant, also when the first is killed and two want to follow", func() { // kind 6
		own := prepared(program)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		sent := agent.Send(id+critical, "x")
		for range 5 {
			rival := prepared(program)
			rival.DataDir = own.DataDir
			own.Kill()
			own.Launch()
			rival.Launch()
			winner, loser := own, rival
			Eventually(func() bool {
				select {
				case <-own.Exited():
					winner, loser = rival, own
				case <-rival.Exited():
				default:
					return false
				}
				return true
			}).Should(BeTrue(), "one of the two must give way")
			Expect(loser.ExitCode()).To(Equal(1), loser.Log)
			Expect(loser.Log()).To(ContainSubstring("in use by another broker"))
			Eventually(winner.Ready).Should(BeTrue())
			Expect(winner.Connect().Stored(id)).To(Equal([]string{sent}))
			own = winner
		}
	})
})
