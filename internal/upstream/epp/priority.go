package epp

// Priority is the priority class of a command. Each class has its own queue; a
// command is sent when no higher class has one that may be sent.
type Priority uint8

const (
	// PriorityOrder is for paid items and payments in progress. It is the default
	// and the class of every transform command.
	PriorityOrder Priority = iota
	// PriorityQuote is for quotes to signed-in customers and agents, and for views
	// of their domains.
	PriorityQuote
	// PriorityLookup is for public searches.
	PriorityLookup
	priorityCount = 3
)

// isShared reports whether a class may not use the connections and the share of the
// rate that are reserved for orders.
func (c Priority) isShared() bool { return c != PriorityOrder }
