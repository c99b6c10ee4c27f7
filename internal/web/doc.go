// Package web is the HTTP server of the product: the list of all routes, and the
// handling that every request shares.
//
// Every request gets an id, one log record and one observation in the metrics. The
// record holds the route, never the path, because paths, queries and bodies contain
// searched names; it holds no client address and no client header either, because those
// are personal data. A panic in a handler ends only that request, with 500 and a log
// record.
package web
