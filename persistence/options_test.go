package persistence

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func TestParseSync(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, mode := range []Sync{SyncAlways, SyncInterval, SyncNever} {
		g.Expect(ParseSync(mode.String())).To(gomega.Equal(mode))
	}
	for _, text := range []string{"", "Always", "always ", "invalid", "0"} {
		_, err := ParseSync(text)
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("use always, interval or never")), text)
	}
	g.Expect(Sync(3).String()).To(gomega.Equal("invalid"))
}

func TestOptionsDefaultsAreValidAndKeepWhatIsGiven(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Options
	g.Expect(o.Validate()).NotTo(gomega.Succeed())
	o.EnsureDefaults()
	g.Expect(o.Validate()).To(gomega.Succeed())
	g.Expect(o.Sync).To(gomega.Equal(SyncAlways))
	g.Expect(o.SyncInterval).To(gomega.Equal(100 * time.Millisecond))

	o = Options{Sync: SyncNever, SyncInterval: time.Second, MaxBatchChanges: 7}
	o.EnsureDefaults()
	g.Expect(o.Sync).To(gomega.Equal(SyncNever))
	g.Expect(o.SyncInterval).To(gomega.Equal(time.Second))
	g.Expect(o.MaxBatchChanges).To(gomega.Equal(7))
}

func TestOptionsNameEverythingThatIsWrong(t *testing.T) {
	g := gomega.NewWithT(t)
	o := Options{Sync: 9, SyncInterval: 1, BlockCacheBytes: -1, MemtableBytes: 1, MaxBatchChanges: -1, MaxBatchBytes: -1}
	o.EnsureDefaults()
	err := o.Validate()
	for _, field := range []string{"Sync ", "SyncInterval", "BlockCacheBytes", "MemtableBytes", "MaxBatchChanges", "MaxBatchBytes"} {
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(field)))
	}
	g.Expect(err.Error()).NotTo(gomega.ContainSubstring("\n"))
}
