package config

import "github.com/spf13/pflag"

// FileFlag is the flag that names the configuration file.
const FileFlag = "config"

// AddFlags declares a flag for each key, and --config. What they say is read by [Load], which checks it too, so that all
// problems are reported at once.
func AddFlags(f *pflag.FlagSet) {
	f.SortFlags = false // the table's order tells more
	f.String(FileFlag, "", "configuration `file`; without it "+FileEnv+", else ./mq9.toml or "+systemFile+" if there is one")
	for i := range table {
		k := &table[i]
		flag := f.VarPF(&flagText{k.Default, k.Unit}, k.Flag(), "", k.Effect)
		if k.isSwitch() {
			flag.NoOptDefVal = "true"
		}
	}
}

// flagText is a flag's value as written.
type flagText struct{ text, unit string }

// String returns the text.
func (v *flagText) String() string { return v.text }

// Set takes any text.
func (v *flagText) Set(text string) error {
	v.text = text
	return nil
}

// Type is what the help shows in place of the value.
func (v *flagText) Type() string {
	if v.unit == "true|false" {
		return "bool" // pflag knows that it needs no value
	}
	return v.unit
}
