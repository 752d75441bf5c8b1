package main

func snapshot(b *bench) error { return nil }
