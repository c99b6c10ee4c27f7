// Package hashing computes passwords' hashes in processes of their own.
//
// A hash takes 64 MiB and a core for some hundred milliseconds, on purpose. Done
// inside the service it disturbs whatever else is being answered: the memory has
// to be collected at once, and the system can't tell the goroutines that hash from
// those that answer. A process of its own has a heap of its own, and can be told
// to yield the cores to everybody else.
//
// # How
//
// Workers runs this same program a second time, with the command that calls Serve,
// and talks to it over its standard input and output: one question, one answer,
// each with its length in front and bounded. A process is started when it is first
// needed. It ends when its input does, so it can't outlive the service, however
// that ends.
//
// # What it promises
//
// An answer is the key of its own question or an error, never another key: a
// process that fails, dies, is late or answers anything unexpected is ended and
// never asked again. Whoever gets an error computes the key himself. After an
// error no process is started for a while, up to a minute if it goes on, so a
// machine that is too busy to let such processes run, or that does not let them
// start, costs one wait and not one for each sign-in.
//
// # What it refuses
//
// The process gets no argument but its command, none of the service's environment,
// and no open file but the two pipes. It reads no configuration, opens nothing and
// logs nothing. Passwords go through the pipes only, and are wiped afterwards
// where they are ours.
package pwhash
