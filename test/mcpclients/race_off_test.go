//go:build !race

package mcpclients

const raceEnabled = false
