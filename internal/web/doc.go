// Package web is the HTTP front: the list of all routes, and what happens to
// every request whatever it asks for.
//
// Every request gets an id, one log record and one observation in the metrics.
// The record holds the route and never the path, because paths, queries and
// bodies hold searched names; it holds no address and no header of the client
// either, because those are personal. A panic in a handler ends that request
// with 500 and a record, and nothing else.
package web
