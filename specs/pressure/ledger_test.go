package pressure_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
)

// ledger says what a reader must get: names are a priority's letter and a running number within it. It is safe for concurrent use.
type ledger struct {
	total map[byte]int // how many are sent, by letter; immutable

	mu      sync.Mutex
	deleted map[string]bool // by name: these may come or not
}

func newLedger(names []string) *ledger {
	l := &ledger{total: map[byte]int{}, deleted: map[string]bool{}}
	for _, name := range names {
		l.total[name[0]]++
	}
	return l
}

// reading is what one reader has got so far. One goroutine owns it.
type reading struct {
	ledger *ledger
	next   map[byte]int // the number that must come at least, by letter
}

func (l *ledger) reader() *reading { return &reading{l, map[byte]int{}} }

// got notes a delivery: within a priority nothing may be missing, come twice or come out of order, but for what was deleted.
func (r *reading) got(name string) error {
	letter := name[0]
	n, err := strconv.Atoi(name[1:])
	if err != nil {
		return err
	}
	if n < r.next[letter] {
		return fmt.Errorf("%s came after %c%d", name, letter, r.next[letter]-1)
	}
	if err := r.skipped(letter, n); err != nil {
		return err
	}
	r.next[letter] = n + 1
	return nil
}

// skipped checks that all between what came last and number n was deleted.
func (r *reading) skipped(letter byte, n int) error {
	if n == r.next[letter] {
		return nil
	}
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	for missed := r.next[letter]; missed < n; missed++ {
		if name := fmt.Sprintf("%c%d", letter, missed); !r.ledger.deleted[name] {
			return fmt.Errorf("%s did not come before %c%d", name, letter, n)
		}
	}
	return nil
}

// complete says what has not come, if anything.
func (r *reading) complete() error {
	for letter, n := range r.ledger.total {
		if err := r.skipped(letter, n); err != nil {
			return fmt.Errorf("at the end: %w", err)
		}
	}
	return nil
}

// remove says that these are about to be deleted.
func (l *ledger) remove(names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.deleted[name] = true
	}
}

// mixture names n messages of three priorities: one of ten is critical, two are urgent.
func mixture(n int) []string {
	count := map[byte]int{}
	names := make([]string, 0, n)
	for i := range n {
		letter := "cnnunnnunn"[i%10]
		names = append(names, fmt.Sprintf("%c%d", letter, count[letter]))
		count[letter]++
	}
	return names
}

// suffix is what a message of that name is sent with.
func suffix(name string) string {
	return map[byte]string{'c': ".critical", 'u': ".urgent", 'n': ""}[name[0]]
}

// inDeliveryOrder sorts names as a mailbox delivers them.
func inDeliveryOrder(names []string) []string {
	rank := map[byte]int{'c': 0, 'u': 1, 'n': 2}
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return rank[a[0]] - rank[b[0]] })
	return sorted
}
