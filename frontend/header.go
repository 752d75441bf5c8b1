package frontend

import (
	"bytes"

	"github.com/mq9-broker/broker/mq9"
)

var (
	headerVersion = []byte("NATS/1.0\r\n")
	headerEnd     = []byte("\r\n")
	ownHeader     = []byte("mq9-")
)

// checkHeader checks a publisher's header block and returns its lines as they are stored (see mq9.Message.Header):
// without the version line, the closing empty line and whatever carries a `Mq9-` key, in any letter case. The lines that
// stay keep their order and bytes. The result shares block's memory unless a line had to go.
func checkHeader(block []byte) ([]byte, *mq9.Error) {
	lines, ok := bytes.CutPrefix(block, headerVersion)
	if !ok {
		return nil, mq9.Errorf(mq9.CodeBadRequest, "the header block must begin with the line NATS/1.0")
	}
	lines, ok = bytes.CutSuffix(lines, headerEnd)
	if !ok {
		return nil, mq9.Errorf(mq9.CodeBadRequest, "the header block must end with an empty line")
	}
	var own bool
	for rest := lines; len(rest) > 0; {
		end := bytes.Index(rest, headerEnd)
		if end < 0 {
			return nil, mq9.Errorf(mq9.CodeBadRequest, "every header line must end with CR LF, and an empty line must follow the last")
		}
		if err := checkHeaderLine(rest[:end]); err != nil {
			return nil, err
		}
		own = own || isOwnHeader(rest)
		rest = rest[end+len(headerEnd):]
	}
	if !own {
		return lines, nil
	}
	kept := make([]byte, 0, len(lines))
	for rest := lines; len(rest) > 0; {
		n := bytes.Index(rest, headerEnd) + len(headerEnd)
		if !isOwnHeader(rest) {
			kept = append(kept, rest[:n]...)
		}
		rest = rest[n:]
	}
	return kept, nil
}

// checkHeaderLine refuses what clients' header parsers disagree about: such a line could hide another one.
func checkHeaderLine(line []byte) *mq9.Error {
	if len(line) == 0 {
		return mq9.Errorf(mq9.CodeBadRequest, "an empty line inside the header block: put it at the end only")
	}
	if bytes.ContainsAny(line, "\r\n\x00") {
		return mq9.Errorf(mq9.CodeBadRequest, "a header holds a bare CR, LF or NUL: remove it")
	}
	if isBlank(line[0]) {
		return mq9.Errorf(mq9.CodeBadRequest, "a header line begins with a blank: continuation lines are not taken, write one line")
	}
	key, _, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(key) == 0 {
		return mq9.Errorf(mq9.CodeBadRequest, "a header line has no key: write Key: value")
	}
	for _, b := range key {
		if b <= ' ' || b == 0x7f {
			return mq9.Errorf(mq9.CodeBadRequest, "a header key holds a blank or control character: remove it")
		}
	}
	return nil
}

func isOwnHeader(line []byte) bool {
	return len(line) >= len(ownHeader) && bytes.EqualFold(line[:len(ownHeader)], ownHeader)
}
