// Prints go-durations.json: durations and what time.ParseDuration makes of them, nanoseconds or null for an error.
// Run: go run test/vectors/go-durations.go > test/vectors/go-durations.json
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"
)

var units = []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h"}
var pieces = []string{"0", "1", "12", "00", ".", ".5", "1.5h", "30m", "+", "-", "h", "m", "s", "ms", "S", "d", " ",
	"e3", "_", "١", "2562047", "9223372036854775807", "9223372036854775808", "922337203685477580"}

func digits(random *rand.Rand, most int) string {
	var text strings.Builder
	for range random.Intn(most + 1) {
		fmt.Fprint(&text, random.Intn(10))
	}
	return text.String()
}

// Terms as a writer means them.
func wellFormed(random *rand.Rand) string {
	text := []string{"", "", "-", "+"}[random.Intn(4)]
	for range 1 + random.Intn(3) {
		fraction := []string{"", ".", "." + digits(random, 22)}[random.Intn(3)]
		text += digits(random, 5) + fraction + units[random.Intn(len(units))]
	}
	return text
}

// Fractions that are or nearly are whole nanoseconds: there float64 arithmetic, which is Go's, differs from exact
// arithmetic.
func fractional(random *rand.Rand) string {
	ends := []string{"25", "75", "0000", "999999999999"}
	return "0." + digits(random, 13) + ends[random.Intn(len(ends))] + units[random.Intn(len(units))]
}

// Pieces in any order: mostly errors, and values around the limits of int64.
func scrambled(random *rand.Rand) string {
	text := ""
	for range 1 + random.Intn(5) {
		text += pieces[random.Intn(len(pieces))]
	}
	return text
}

func main() {
	random := rand.New(rand.NewSource(1))
	parsed := map[string]any{}
	for len(parsed) < 600 {
		text := []func(*rand.Rand) string{wellFormed, fractional, scrambled}[len(parsed)%3](random)
		parsed[text] = nil
		if duration, err := time.ParseDuration(text); err == nil {
			parsed[text] = fmt.Sprint(int64(duration))
		}
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	encoder.Encode(parsed)
}
