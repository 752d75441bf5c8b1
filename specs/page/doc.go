// Package page specifies the broker's page, in headless Chromium, against a running broker with real traffic.
package page
