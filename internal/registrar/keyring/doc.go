// Package keyring decides which secret keys a database is sealed with, refuses to
// start a node that lacks one, and replaces a key while nodes are running.
//
// Keys come from the configuration; the database stores their ids, a state for each,
// and a canary: a known value sealed with the key, which proves that a configured key
// is the one that the id stands for.
//
//	state     use                        a node without the key
//	next      not used for sealing yet   does not start
//	active    every node seals with it   does not start
//	previous  only opens older values    does not start
//	retired   nothing is sealed with it  starts
//
// A rotation moves one key from next to active and the one before from active to
// previous, in one transaction and only while every running node has reported that it
// can open values of the new key. It then seals every value again, column by column.
// Each step can be repeated, so a rotation that was killed is resumed by starting it
// again. A key is retired by a command of its own, which refuses while a single value
// is sealed with it.
//
// Why a node that starts at the same moment can't be missed: a node first reports its
// keys and then reads the states; a rotation first stores the new state and then reads
// the reports. So one of the two sees the other.
package keyring
