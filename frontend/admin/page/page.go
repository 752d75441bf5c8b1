package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// Prefix is where the files of the page are; the document itself is at /.
const Prefix = "/page/"

//go:embed assets
var assets embed.FS

// policy lets the page use its own files and this broker, and nothing else; nobody may frame it. Charts set sizes by
// script, which needs no leave; a style in the markup would.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// file is one embedded file.
type file struct {
	body []byte
	kind string // its media type
	tag  string // changes with its bytes
}

// Page serves the page. It is safe for concurrent use.
type Page struct{ files map[string]file } // by path of the request; immutable

// New makes the page.
func New() *Page {
	p := &Page{files: map[string]file{}}
	err := fs.WalkDir(assets, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := assets.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		f := file{body: body, kind: mime.TypeByExtension(path.Ext(name)), tag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		at := Prefix + strings.TrimPrefix(name, "assets/")
		if name == "assets/index.html" {
			at = "/"
		}
		p.files[at] = f
		return nil
	})
	if err != nil {
		panic("page: reading what is embedded: " + err.Error()) // it cannot fail
	}
	return p
}

// ServeHTTP answers / and what is under Prefix.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := p.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache") // ask each time, get 304: another version of the broker has another page
	h.Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.body))
}
