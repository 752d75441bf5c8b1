package persistence

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/mq9-broker/broker/mq9"
)

func TestSyncModes(t *testing.T) {
	t.Parallel() // it mostly waits
	for mode, want := range map[Sync]struct {
		atOnce bool // synced when it is acknowledged
		soon   bool // synced some time later, though nothing else is written
	}{
		SyncAlways:   {true, true},
		SyncInterval: {false, true},
		SyncNever:    {false, false},
	} {
		t.Run(mode.String(), func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := open(t, t.TempDir(), Options{Sync: mode, SyncInterval: 50 * time.Millisecond})
			acknowledged := make(chan bool, 1)
			s.Commit(mq9.CreateMailbox{Mailbox: mailbox(1)}, func(error) { acknowledged <- !s.unsaved })
			g.Expect(<-acknowledged).To(gomega.Equal(want.atOnce))
			if want.soon {
				g.Eventually(synced).WithArguments(s).WithTimeout(longest).Should(gomega.BeTrue())
			} else {
				g.Consistently(synced).WithArguments(s).WithTimeout(2 * probeInterval).Should(gomega.BeFalse())
			}
			_, err := s.ReserveIDs(1)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(synced(s)).To(gomega.BeTrue(), "ids are synced in every mode, and the log before them")
		})
	}
}

// synced asks on the committer's goroutine, which owns the answer. It writes nothing: no change is an invalid one.
func synced(s *Store) bool {
	answer := make(chan bool, 1)
	s.Commit(nil, func(error) { answer <- !s.unsaved })
	return <-answer
}
