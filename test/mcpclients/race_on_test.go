//go:build race

package mcpclients

const raceEnabled = true
