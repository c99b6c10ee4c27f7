package ui

import "regexp"

var internalID = regexp.MustCompile(`^[a-z]{2,8}_[0-9a-z]{26}$`)

// IsInternalID reports whether a text is an id of ours, which says nothing to people.
func IsInternalID(text string) bool { return internalID.MatchString(text) }
