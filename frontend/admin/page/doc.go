// Package page is the page at the broker's HTTP address: what the broker does now, and a form to send to a mailbox and to watch one.
//
// It is made of files that are embedded: one HTML document, one style sheet, some ES modules, and uPlot for the charts (under assets/vendor,
// with its license). Nothing is built and nothing comes from elsewhere, so it works without internet.
//
//	assets/index.html   what there is on the page; works with a keyboard and tells a screen reader what it is
//	assets/page.css     how it looks, light and dark, wide and on a phone
//	assets/main.js      follows the broker and hands what it says to the parts
//	assets/api.js       requests and event streams, with the token if one is needed
//	assets/figures.js   rates and quantiles out of counters
//	assets/overview.js  figures, tiers, store, limits
//	assets/charts.js    the charts
//	assets/tables.js    tables whose rows stay in place while figures change; lists.js says what is in them
//	assets/desk.js      the form
//	assets/dom.js, assets/format.js
//
// # Secrets
//
// The page shows what the admin API says, which names private mailboxes by hashes. A mail_id that a person types stays in its field and goes
// in the body of a request: never into an address, which a proxy or a history would keep, nor into the document. Messages
// are shown as text. The Content-Security-Policy lets nothing run but the embedded files and nothing be asked but this broker.
//
// The files in screenshots are made by `make screenshots`.
package page
