package frontend

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// frameKind is a frame of the embedded server that the front looks at; all others are frameOther.
type frameKind uint8

const (
	frameMore  frameKind = iota // not complete: read more
	frameOther                  // PING, and MSG and HMSG unless counted
	frameMsg                    // MSG or HMSG
	frameInfo
	frameAccept // +OK
	frameAnswer // PONG
	frameRefuse // -ERR
)

// errFrame says that the embedded server sent what is no frame. Both ends are ours: it is a bug.
var errFrame = errors.New("the embedded server sent an unknown frame")

// serverFrame is a frame at the head of the embedded server's stream.
type serverFrame struct {
	kind frameKind
	size int    // bytes; for frameMore, of the whole frame if known, or 0
	arg  []byte // INFO's JSON, -ERR's text, or MSG's sid; part of the data parsed
}

// nextFrame finds the frame at the head of data.
func nextFrame(data []byte) (serverFrame, error) {
	end := bytes.IndexByte(data, '\n')
	if end < 0 {
		return serverFrame{}, nil
	}
	size := end + 1
	line := bytes.TrimSuffix(data[:end], []byte("\r"))
	verb, arg, _ := bytes.Cut(line, []byte(" "))
	switch string(verb) {
	case "MSG", "HMSG":
		sid, payload := readMessageLine(arg, verb[0] == 'H')
		if payload < 0 {
			return serverFrame{}, fmt.Errorf("%w: %s with bad arguments", errFrame, verb)
		}
		size += payload + len("\r\n")
		if size > len(data) {
			return serverFrame{size: size}, nil
		}
		return serverFrame{frameMsg, size, sid}, nil
	case "PING":
		return serverFrame{frameOther, size, nil}, nil
	case "PONG":
		return serverFrame{frameAnswer, size, nil}, nil
	case "INFO":
		return serverFrame{frameInfo, size, arg}, nil
	case "+OK":
		return serverFrame{frameAccept, size, nil}, nil
	case "-ERR":
		return serverFrame{frameRefuse, size, arg}, nil
	}
	return serverFrame{}, errFrame
}

// readMessageLine reads the arguments of MSG (subject, sid, [reply], size) or HMSG (with the header's size before the last): the sid, and
// the bytes that follow, or -1 if that is not what they are. It does not look at the rest of them: it runs for every
// plain message.
func readMessageLine(arg []byte, withHeader bool) (sid []byte, size int) {
	fewest := 2 // blanks: the embedded server puts one between two arguments
	if withHeader {
		fewest = 3
	}
	if blanks := bytes.Count(arg, []byte(" ")); blanks < fewest || blanks > fewest+1 {
		return nil, -1
	}
	_, rest, _ := bytes.Cut(arg, []byte(" "))
	sid, _, _ = bytes.Cut(rest, []byte(" "))
	return sid, parseSize(arg[bytes.LastIndexByte(arg, ' ')+1:])
}

// refusedSubscription reads subject and queue out of the text of nats-server's -ERR for a SUB that was not permitted.
func refusedSubscription(text string) (subject, queue string, ok bool) {
	text, ok = strings.CutPrefix(strings.Trim(text, "'"), "Permissions Violation for Subscription to ")
	if !ok {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	if subject, err = strconv.Unquote(quoted); err != nil {
		return "", "", false
	}
	if name, grouped := strings.CutPrefix(text[len(quoted):], " using queue "); grouped {
		if queue, err = strconv.Unquote(name); err != nil {
			return "", "", false
		}
	}
	return subject, queue, true
}
