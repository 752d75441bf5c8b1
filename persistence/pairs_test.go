package persistence

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"github.com/linxGnu/grocksdb"
	"github.com/onsi/gomega"
)

// The engine's iterator is taken out of the library's: what native believes of that type holds.
func TestNativeIterator(t *testing.T) {
	g := gomega.NewWithT(t)
	it := reflect.TypeFor[grocksdb.Iterator]()
	g.Expect(it.NumField()).To(gomega.Equal(1))
	g.Expect(it.Field(0).Type.Kind()).To(gomega.Equal(reflect.Pointer))
	g.Expect(it.Field(0).Type.Elem().Name()).To(gomega.ContainSubstring("rocksdb_iterator_t"))
	g.Expect(it.Size()).To(gomega.Equal(unsafe.Sizeof(uintptr(0))))
}

// Pairs of all sizes come out as they went in, whole or their heads alone, whatever the number that is copied at a time.
func TestPairs(t *testing.T) {
	g := gomega.NewWithT(t)
	s := open(t, t.TempDir(), Options{})
	sizes := []int{0, 1, 100, pairsBytes - 30, pairsBytes, 3 * pairsBytes, 7}
	for range 300 {
		sizes = append(sizes, 250)
	}
	b := grocksdb.NewWriteBatch()
	defer b.Destroy()
	value := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, sizes[i]) }
	for i := range sizes {
		b.PutCF(s.family(familyBodies), fmt.Appendf(nil, "%04d", i), value(i))
	}
	g.Expect(s.mu.engine.write(b, false)).To(gomega.Succeed())

	for _, head := range []int{0, 17} {
		n := 0
		err := s.mu.engine.pairs(scan{family: familyBodies, head: head}, func(p pair) (bool, error) {
			want := value(n)
			if head > 0 {
				want = want[:min(head, len(want))]
			}
			g.Expect(string(p.key)).To(gomega.Equal(fmt.Sprintf("%04d", n)))
			g.Expect(bytes.Equal(p.value, want)).To(gomega.BeTrue(), "value %d, head %d", n, head)
			g.Expect(p.length).To(gomega.Equal(sizes[n]))
			n++
			return true, nil
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(n).To(gomega.Equal(len(sizes)))
	}
}
