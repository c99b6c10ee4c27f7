//go:build race

package quota

// raceEnabled says that the race detector runs, under which memory and time
// tell nothing about the program.
const raceEnabled = true
