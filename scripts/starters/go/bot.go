// A bot that reads turns as lines of JSON and answers each with a line. README.md has the commands.
package main

import (
	"bufio"
	"encoding/json"
	"math/rand"
	"os"
)

var games = []string{"rps.v1"}

// choose returns one of the legal actions. The view is the part of the game that this role may know.
func choose(view map[string]any, legal []any, role string) any {
	return legal[rand.Intn(len(legal))]
}

// main reads and writes lines. With arguments, it joins a league over the network (join.go).
func main() {
	if len(os.Args) > 1 {
		join(os.Args[1:])
		return
	}
	var line struct {
		Type, Role string
		View       map[string]any
		Legal      []any
		Seed       int64
	}
	lines, answers := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // a print in choose must not write between the answers
	// This process can play the next match.
	ready := map[string]any{"ready": true, "matches": "many"}
	answers.Encode(ready)
	for lines.Decode(&line) == nil {
		if line.Type == "turn" {
			rand.Seed(line.Seed) // the same choices in a league with the same seed
			answers.Encode(map[string]any{"action": choose(line.View, line.Legal, line.Role)})
			line.View = nil // otherwise Decode adds the next view to this one
		} else if line.Type == "end" {
			answers.Encode(ready)
		}
	}
}
