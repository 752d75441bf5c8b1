// Package pressure holds the specs of delivery under pressure (protocol section 6): readers that stand still, late criticals, replay that meets live
// traffic on many subscriptions at once, and workers that die.
//
// Readers are bare sockets whose kernels keep little (stream_test.go), or processes of their own (process_test.go): this
// test binary again, with a job in its environment, so that it can be stopped and killed like any client. With
// -full the specs take the sizes that the promises name instead of some that fit into a few seconds.
package pressure
