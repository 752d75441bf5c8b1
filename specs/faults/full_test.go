package faults_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mq9-broker/broker/specs/harness"
)

var _ = Describe("A full disk", func() {
	status := func(b *harness.Broker, path string) func() int {
		return func() int {
			resp, err := http.Get("http://" + b.HTTP + path)
			if err != nil {
				return 0
			}
			_ = resp.Body.Close()
			return resp.StatusCode
		}
	}
	body := strings.Repeat("0123456789abcdef", 2048)

	It("refuses durable sends and CREATEs, lets the rest go on, and is over when there is space again", func() {
		own, disk := onDisk(64)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		var acknowledged []string
		for range 50 {
			acknowledged = append(acknowledged, agent.Send(id+critical, body))
		}
		early := own.Connect().Mailbox(id)
		Eventually(early.Count).Should(Equal(50))

		for round := range 2 {
			disk.fill()
			// What the engine has set aside lasts a while.
			for code := 0; code == 0; {
				var msgID string
				if msgID, code = send(agent, id+critical, body); code == 0 {
					acknowledged = append(acknowledged, msgID)
				} else {
					Expect(code).To(Equal(503))
				}
			}
			for range 100 {
				_, code := send(agent, id+urgent, body)
				Expect(code).To(Equal(503))
			}
			Expect(agent.Refused(harness.Create, `{"ttl":60}`).Code).To(Equal(503))
			Expect(agent.Refused(harness.Delete+id+"."+acknowledged[0], "").Code).To(Equal(503))
			agent.Publish(id+urgent, "without a reply")
			agent.Sync()
			Eventually(agent.Errors).Should(ContainElement(ContainSubstring(": 503 ")))
			Eventually(status(own, "/readyz")).Should(Equal(503))
			Expect(status(own, "/healthz")()).To(Equal(200))

			// The memory tier and the reads.
			mark := fmt.Sprintf("normal %d", round)
			passing := agent.Send(id, mark)
			Eventually(early.Payloads).Should(ContainElement(mark))
			Expect(agent.Stored(id)).To(Equal(append(append([]string(nil), acknowledged...), passing)))
			replay := own.Connect().Mailbox(id)
			Eventually(replay.Count).Should(Equal(len(acknowledged) + 1))
			Expect(agent.Delete(id, passing)).To(BeTrue())
			Expect(agent.Create(fmt.Sprintf(`{"mail_id":%q}`, id)).IsNew).To(BeFalse())

			disk.free()
			Eventually(status(own, "/readyz")).Should(Equal(200))
			acknowledged = append(acknowledged, agent.Send(id+critical, body))
			Expect(agent.Delete(id, acknowledged[0])).To(BeTrue())
			acknowledged = acknowledged[1:]
			agent.Private()
			Expect(agent.Stored(id)).To(Equal(acknowledged))
		}

		own.Restart()
		after := own.Connect()
		Expect(after.Stored(id)).To(Equal(acknowledged), "what was refused is not there, what was acknowledged is")
		feed := after.Mailbox(id)
		Eventually(feed.Count).Should(Equal(len(acknowledged)))
		Expect(feed.Payloads()).To(HaveEach(body))
	})

	It("leaves the memory tier alone even when it came before the first message", func() {
		own, disk := onDisk(64)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		own.Restart()
		agent = own.Connect()
		disk.fill()
		Expect(agent.Send(id, "normal")).NotTo(BeEmpty())
	})

	It("stops a start with one clear line, and no later one", func() {
		own, disk := onDisk(64)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		kept := agent.Send(id+critical, body)
		own.Kill()
		disk.fill()
		Expect(failing(own)).To(ContainSubstring(own.DataDir))
		disk.free()
		own.Start()
		Expect(own.Connect().Stored(id)).To(Equal([]string{kept}))
	})

	It("is survived by what was acknowledged when the broker is killed while it lasts", func() {
		own, disk := onDisk(64)
		own.Start()
		agent := own.Connect()
		id := agent.Private()
		disk.fill()
		acknowledged := []string{}
		for code := 0; code == 0; {
			var msgID string
			if msgID, code = send(agent, id+critical, body); code == 0 {
				acknowledged = append(acknowledged, msgID)
			}
		}
		own.Kill()
		disk.free()
		own.Start()
		Expect(own.Connect().Stored(id)).To(Equal(acknowledged))
	})

	DescribeTable("is survived while a file is, most likely, written out in the background",
		func(flags ...string) {
			own, disk := onDisk(100)
			own.Flags = flags
			own.Start()
			agent := own.Connect()
			id := agent.Private()
			acknowledged := []string{}
			// Random bytes do not get smaller, so that the log and the file that is made from it do not fit beside each other.
			source := rand.NewChaCha8([32]byte{})
			payload := make([]byte, 500_000)
			for code := 0; code == 0; {
				_, err := source.Read(payload)
				Expect(err).NotTo(HaveOccurred())
				var msgID string
				if msgID, code = send(agent, id+critical, string(payload)); code == 0 {
					acknowledged = append(acknowledged, msgID)
				}
			}
			Eventually(status(own, "/readyz")).Should(Equal(503))
			Expect(own.Log()).To(ContainSubstring("No space left"), "for the file, or for the log that grew meanwhile")
			for range 20 {
				_, code := send(agent, id+critical, "x")
				Expect(code).To(Equal(503))
			}
			Expect(agent.Stored(id)).To(Equal(acknowledged))
			disk.grow(300)
			Eventually(status(own, "/readyz")).Should(Equal(200))
			acknowledged = append(acknowledged, agent.Send(id+critical, "after"))
			own.Restart()
			Expect(own.Connect().Stored(id)).To(Equal(acknowledged))
		},
		Entry("with a sync for each batch"),
		Entry("with a sync now and then", "--sync", "interval"),
		Entry("without syncs", "--sync", "never"),
	)
})
