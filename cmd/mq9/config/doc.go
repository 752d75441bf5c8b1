// Package config is the configuration of `mq9 serve`: one table that declares every key, and what is made of it.
//
// A key is one row of the table in table.go and one field of [Config]. From the row come the flag (--max-memory), the environment
// variable (MQ9_MAX_MEMORY), the entry of the file (max_memory), its default, the checks of its value, the help, the line of
// `mq9 config show`, the paragraph of the example file, and what SIGHUP does about it. The names are derived from one another, so that
// whoever knows one knows all three.
//
// [Load] reads four layers, each over the one before: defaults, file, environment, flags. All of them hold text (a number in the file is taken as
// what stands there), so a value means the same wherever it comes from. It reports every problem at once, each with its place: a
// line of the file, a variable, a flag.
//
// The file is flat TOML: no tables. The names of variables stay clear of those that Kubernetes invents for a service
// called mq9 (MQ9_PORT, MQ9_SERVICE_HOST and the like): name no key "port" or "service_…".
//
// Nothing here is safe for concurrent use while it is written to; what Load returns is not written to afterwards.
package config
