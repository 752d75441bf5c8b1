package actors

import "testing"

// FuzzParseCursor feeds what HTTP clients may send as a cursor. What is read must be written the same, or a client could go in circles.
func FuzzParseCursor(f *testing.F) {
	for _, seed := range []string{"", "!", "cAAAAAAAAAAHQQBzb21lLm5hbWUAZ3JvdXA", "eAAAAAAAAAAJAABncm91cA", "eAAAAAAAAAAJ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		place, err := parseCursor(text)
		if err != nil || text == "" {
			return
		}
		again, err := parseCursor(cursor(*place))
		if err != nil {
			t.Fatalf("%q is read, and what is written of it is not: %v", text, err)
		}
		if again.name != place.name || again.at.box.Number != place.at.box.Number || again.at.box.Public != place.at.box.Public {
			t.Fatalf("%q is another place when written and read again", text)
		}
	})
}
