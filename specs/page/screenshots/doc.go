// Command screenshots makes the pictures of the broker's page that the documents show: light, dark and on a phone.
//
// It starts a broker of its own on free ports, with data in a temporary directory, has agents of all kinds use it (among them workers that
// share a mailbox, and a reader that does not read), opens the page in headless Chromium, and ends all of them.
//
//	go run ./specs/page/screenshots -bin bin/mq9 -out frontend/admin/page/screenshots
package main
