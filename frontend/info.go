package frontend

import (
	"encoding/json"
	"fmt"
)

// serverInfo is what the front needs to know of the embedded server's INFO.
type serverInfo struct {
	ClientID   uint64 `json:"client_id"`
	MaxPayload int    `json:"max_payload"`
	Headers    bool   `json:"headers"`
}

// infoFields are members that the front puts into an INFO, in place of the embedded server's.
type infoFields map[string]any

// parseInfo reads the JSON of an INFO.
func parseInfo(body []byte) (serverInfo, error) {
	var info serverInfo
	if err := json.Unmarshal(body, &info); err != nil {
		return info, fmt.Errorf("INFO of the embedded server: %w", err)
	}
	return info, nil
}

// rewriteInfo renders an INFO frame from its JSON with the given members replaced; a nil one is removed.
func rewriteInfo(body []byte, fields infoFields) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("INFO of the embedded server: %w", err)
	}
	for name, value := range fields {
		if value == nil {
			delete(members, name)
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("INFO member %s: %w", name, err)
		}
		members[name] = raw
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil, fmt.Errorf("INFO: %w", err)
	}
	return fmt.Appendf(nil, "INFO %s\r\n", out), nil
}

// connectOptions is what the front needs to know of a client's CONNECT. As in nats-server, what
// a CONNECT leaves out keeps its value, and before the first one the defaults hold.
type connectOptions struct {
	Verbose  bool   `json:"verbose"`
	Headers  bool   `json:"headers"`
	Protocol int    `json:"protocol"`
	JWT      string `json:"jwt"` // says who the client is
}

var defaultConnect = connectOptions{Verbose: true}
