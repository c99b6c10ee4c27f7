// Package pwhash computes password hashes in separate processes.
//
// A hash deliberately takes 64 MiB and a core for a few hundred milliseconds. Inside the
// service it would slow down requests: the memory has to be collected at once, and the
// scheduler can't tell hashing goroutines from those that serve requests. A separate
// process has its own heap and can run at a lower priority.
//
// # Protocol
//
// Workers runs this program again, with the command that calls Serve, and talks to it over standard
// input and output: one request, one response, each length-prefixed and bounded. A process is
// started on first use. It ends when its input does, so it can't outlive the service.
//
// # Guarantees
//
// A response is the key for its own request or an error, never another key: a process that fails,
// exits, times out or responds unexpectedly is killed and not reused. On an error the caller
// computes the key itself. After an error no process is started for a while, up to a minute if
// errors persist, so that an overloaded machine costs one wait and not one per sign-in.
//
// # Isolation
//
// The process gets no argument except its command, none of the service's environment, and
// no open file except the two pipes. It reads no configuration, opens nothing and logs
// nothing. Passwords pass only through the pipes, and our buffers are wiped afterwards.
package pwhash
