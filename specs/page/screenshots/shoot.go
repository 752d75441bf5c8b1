package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// shot is one picture.
type shot struct {
	name, scheme  string
	width, height int64 // of the window
	scale         float64
	phone         bool   // the picture is as high as the window, else as the page
	from          string // what is scrolled to
}

var shots = []shot{
	{"light", "light", 1440, 1000, 1, false, "header"},
	{"dark", "dark", 1440, 1000, 1, false, "header"},
	{"phone", "light", 390, 844, 2, true, "header"},
	{"phone-dark", "dark", 390, 844, 2, true, "#h-tiers"},
}

// shoot opens the page, uses it, waits until the charts have something to show, and takes the pictures.
func shoot(ctx context.Context, url, secret, out string, wait time.Duration) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var options []chromedp.ContextOption
	if os.Geteuid() == 0 { // for whom Chromium has no sandbox
		options = append(options, chromedp.WithAllocatorOptions(chromedp.NoSandbox))
	}
	ctx, cancel := chromedp.NewContext(ctx, options...)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		return err
	}
	ctx, late := context.WithTimeout(ctx, wait+2*time.Minute)
	defer late()
	if err := chromedp.Do(ctx,
		chromedp.EmulateViewport(shots[0].width, shots[0].height),
		chromedp.WaitVisible(chromedp.CSS("#public button.link")),
		chromedp.Sleep(wait),
		chromedp.SetValue(chromedp.CSS("#mail-id"), secret),
		press("watch"),
		chromedp.WaitVisible(chromedp.CSS("#watched")),
		say("critical", "The build is red: who takes it?"),
		say("urgent", "Please read section 3 by noon."),
		say("normal", "Coffee is ready."),
	); err != nil {
		return err
	}
	for _, s := range shots {
		picture, err := s.take(ctx)
		if err != nil {
			return err
		}
		file := filepath.Join(out, s.name+".png")
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			return err
		}
		fmt.Println(file)
	}
	return nil
}

// take takes one picture.
func (s shot) take(ctx context.Context) ([]byte, error) {
	size := func(height int64) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
				Width: s.width, Height: height, DeviceScaleFactor: s.scale, Mobile: s.phone,
			})
			return err
		})
	}
	scheme := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s.scheme}},
		})
		return err
	})
	const settle = 2 * time.Second // the next second's figures, and the charts in these colours and this size
	if err := chromedp.Do(ctx, size(s.height), scheme, chromedp.Sleep(settle)); err != nil {
		return nil, err
	}
	height := s.height
	if !s.phone {
		var err error
		if height, err = chromedp.Run(ctx, chromedp.Evaluate[int64](`document.documentElement.scrollHeight`)); err != nil {
			return nil, err
		}
	}
	scroll := chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.querySelector("` + s.from + `").getBoundingClientRect().top + scrollY - 24)`)
	if err := chromedp.Do(ctx, size(height), scroll, chromedp.Sleep(settle)); err != nil {
		return nil, err
	}
	return chromedp.Run(ctx, chromedp.CaptureScreenshot())
}

// press presses a button of the page, wherever it is in the window.
func press(id string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`document.getElementById("` + id + `").click()`)
}

// say sends a message with the form.
func say(priority, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		chromedp.Evaluate[chromedp.Void](`document.querySelector('input[value="`+priority+`"]').checked = true`),
		chromedp.SetValue(chromedp.CSS("#text"), text),
		press("send"),
		chromedp.Poll[chromedp.Void](`document.getElementById("text").value === "" && !document.getElementById("send").disabled`),
	)
}
