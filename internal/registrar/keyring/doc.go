// Package keyring manages the secret keys that a database is sealed with: it prevents a
// node that lacks one from starting, and replaces a key while nodes are running.
//
// Keys come from the configuration; the database stores their IDs, a state for each,
// and a canary: a known value sealed with the key, which proves that a configured key
// is the one with that ID.
//
//	state     use                        a node without the key
//	next      not used for sealing yet   does not start
//	active    every node seals with it   does not start
//	previous  only opens older values    does not start
//	retired   nothing is sealed with it  starts
//
// A rotation moves one key from next to active and the former one from active to
// previous, in one transaction and only once every running node has reported that it
// can open values of the new key. It then reseals every value, column by column. Each
// step can be repeated, so starting a killed rotation again resumes it. A separate
// command retires a key; it refuses while any value is sealed with it.
//
// Why a node that starts at the same moment can't be missed: a node first reports its
// keys and then reads the states; a rotation first stores the new state and then reads
// the reports. So one of the two sees the other.
package keyring
