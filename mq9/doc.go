// Package mq9 is the vocabulary of the mailbox protocol: identities, priorities, messages, the `$mq9.`
// subject grammar, the JSON bodies and the coded errors.
//
// It is a leaf: it imports nothing else of this module, holds no state and starts nothing. Everything in it is
// a value or a pure function and safe for concurrent use; a [Message] is immutable once it was handed on.
package mq9
