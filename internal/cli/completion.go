package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/dotkontor/dotkontor/internal/app"
)

type HelpCommand struct {
	Command []string `arg:"" optional:"" help:"The command, such as: catalog import."`
}

// Run prints the same as --help.
func (c HelpCommand) Run(app *kong.Kong) error {
	at := app.Model.Node
	for _, word := range c.Command {
		if at = childOf(at, word); at == nil {
			return UsageError(fmt.Sprintf("there is no command %q", strings.Join(c.Command, " ")))
		}
	}
	// --help prints and stops parsing; the error about missing arguments does not matter.
	_, _ = app.Parse(append(slices.Clone(c.Command), "--help"))
	return nil
}

type VersionCommand struct{}

// Run prints the version and the build information.
func (VersionCommand) Run(t *Terminal) error { return t.Println("%s", app.VersionText()) }

type CompletionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help extends the output of --help.
func (CompletionCommand) Help() string {
	// The help is reflowed, so the lines need blank lines between them.
	return `bash: source <(dotkontor completion bash)

zsh: source <(dotkontor completion zsh)

fish: dotkontor completion fish | source`
}

// completionScripts pass the words of a command line to 'dotkontor complete'. If it
// prints nothing, the shell completes file names.
var completionScripts = map[string]string{
	"bash": `_dotkontor() {
  mapfile -t COMPREPLY < <(dotkontor complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _dotkontor dotkontor
`,
	"zsh": `_dotkontor() {
  local -a found
  found=("${(@f)$(dotkontor complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[*]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _dotkontor dotkontor
`,
	"fish": `complete -c dotkontor -a '(dotkontor complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

// Run prints the script.
func (c CompletionCommand) Run(t *Terminal) error {
	fmt.Fprint(t.Out, completionScripts[c.Shell])
	return nil
}

type CompleteCommand struct {
	Words []string `arg:"" optional:"" help:"The words so far; the last one is being typed."`
}

// Run prints the completions of the last word, one per line.
func (c CompleteCommand) Run(app *kong.Kong, t *Terminal) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	for _, candidate := range completions(app.Model.Node, words) {
		fmt.Fprintln(t.Out, candidate)
	}
	return nil
}

// completions returns the commands, flags and enumerated values that start with the last
// word, in the context of the words before it.
func completions(at *kong.Node, words []string) (candidates []string) {
	var pending *kong.Flag // the flag whose value comes next
	arguments := 0
	for _, word := range words[:len(words)-1] {
		switch {
		case pending != nil:
			pending = nil
		case strings.HasPrefix(word, "--"):
			for _, flag := range flagsOf(at) {
				if "--"+flag.Name == word && !flag.IsBool() { // a word with = has its value
					pending = flag
				}
			}
		default:
			if child := childOf(at, word); child != nil {
				at = child
			} else {
				arguments++
			}
		}
	}
	last := words[len(words)-1]
	add := func(word string) {
		if strings.HasPrefix(word, last) {
			candidates = append(candidates, word)
		}
	}
	switch {
	case pending != nil:
		for _, value := range pending.EnumSlice() {
			add(value)
		}
	case strings.HasPrefix(last, "-"):
		for _, flag := range flagsOf(at) {
			if !flag.Hidden {
				add("--" + flag.Name)
			}
		}
	default:
		for _, child := range at.Children {
			if !child.Hidden {
				add(child.Name)
			}
		}
		if arguments < len(at.Positional) {
			for _, value := range at.Positional[arguments].EnumSlice() {
				add(value)
			}
		}
	}
	slices.Sort(candidates)
	return candidates
}

// childOf returns the subcommand of at with this name, or nil.
func childOf(at *kong.Node, name string) *kong.Node {
	for _, child := range at.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagsOf returns the flags of at and its parents.
func flagsOf(at *kong.Node) (flags []*kong.Flag) {
	for ; at != nil; at = at.Parent {
		flags = append(flags, at.Flags...)
	}
	return flags
}
