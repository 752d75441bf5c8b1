package frontend

// maxArgs is one more than any control line of a client may have.
const maxArgs = 5

// splitArgs cuts a control line's arguments at blanks, as nats-server does. More than maxArgs-1 arguments are
// reported as maxArgs: too many for any verb.
func splitArgs(line []byte) (args [maxArgs][]byte, n int) {
	start := -1
	for i, b := range line {
		if b != ' ' && b != '\t' {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			if n == maxArgs {
				return args, n
			}
			args[n] = line[start:i]
			n++
			start = -1
		}
	}
	if start >= 0 && n < maxArgs {
		args[n] = line[start:]
		n++
	}
	return args, n
}

// parseSize reads a size as nats-server does: one to nine digits. Anything else is -1.
func parseSize(digits []byte) int {
	const longest = 9
	if len(digits) == 0 || len(digits) > longest {
		return -1
	}
	n := 0
	for _, d := range digits {
		if d < '0' || d > '9' {
			return -1
		}
		n = n*10 + int(d-'0')
	}
	return n
}
