// Mutants of a corpus: tokens of YAML exchanged, header fields written in other ways, documents wrapped and joined.
package main

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Mutator makes the inputs of a run. The n-th depends on the corpus, the seed and n alone.
type Mutator struct {
	corpus []string
	seed   uint64
	known  map[uint64]struct{}
}

const (
	remembered = 1 << 22 // inputs that are not sent twice
	large      = 10_000  // bytes
)

var (
	tokens = regexp.MustCompile(`[A-Za-z0-9_./-]+|[ \t]+|\r?\n|"[^"\n]*"|'[^'\n]*'|.`)
	fields = regexp.MustCompile(`\b(?:kind|apiVersion|metadata|name|spec|template|jobTemplate|runtimeClassName|items|` +
		`Pod|ReplicationController|Deployment|CronJob|v1|apps/v1|List|PodList|Service|ConfigMap|contrast-cc[a-z-]*)\b`)
)

var dictionary = []string{
	"---", "--- ", "--- #", "---#", "--- |", "--- >", "--- !!map", "--- {", "...", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n",
	"%TAG ! tag:yaml.org,2002:\n---\n", "\n", "\n\n", "\n---\n", "\n--- # x\n", "\n---\t\n", "\r\n", "\r", "\t", " ", "  ",
	"    ", "\u0085", "\u2028", "\u2029", "\ufeff", "\u00a0", "\u3000", ":", ": ", " :", ",", "?", "? ", "- ", "-", "[",
	"]", "{", "}", "{}", "[]", "|", "|-", "|+", "|2", "|1-", ">", ">-", "&a ", "*a", "*a ", "&k ", "*k ", "<<", "<<: ",
	"<<: *a", "<<: {kind: Pod}", "'<<'", "!!merge <<", "!!str ", "!!binary ", "!!map ", "!!seq ", "!!null ", "!!set ",
	"!!int ", "!!bool ", "! ", "!x ", "!<tag:yaml.org,2002:str> ", "!!binary UG9k", "!!binary a2luZA==", "!!binary aXRlbXM=",
	"'", "\"", "''", `\"`, `\`, `\n`, `\x50od`, `"P\x6fd"`, `"\u0050od"`, `"k\x69nd"`, `"kin\
  d"`, `"c\x6fntrast-cc"`, "#", " #", "# ", "# comment\n", "~", "null", "Null", "yes", "no", "on", "0", "1", "1e3", "0o14",
	"0x10", "1_0", "1:30", "2001-01-01", ".inf", ".nan", "=", "kind", "Kind", "KIND", "apiVersion", "metadata", "spec",
	"items", "Items", "template", "runtimeClassName", "runtimeclassname", "contrast-cc", "contrast-cc-metal-qemu-snp",
	"kata-cc-isolation", "Pod", "pod", "PodList", "List", "list", "Deployment", "CronJob", "Service", "ConfigMap", "v1",
	"apps/v1", "batch/v1", "kind: Pod", "kind: Service", "kind: *k", "items: []", "items: null", "items:\n- ",
	"apiVersion: v1", "runtimeClassName: contrast-cc", "/v1", "/apps/v1", "v1/", "/", "apiVersion: /v1", "example.com/v1",
	"ReplicationController", "Thing", "PodTemplate", "Secret", "apps/v1beta1", strings.Repeat("9", 4301), "$(A)$(A)", "$(A)",
	"a: |\n", "a: \"\n", "a: '\n", "x: &a ", "@", "`", "%", "\x00", "\x7f",
}

// NewMutator reads the corpus: every file of a directory.
func NewMutator(directory string, seed uint64) (*Mutator, error) {
	names, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("%s: no corpus", directory)
	}
	made := &Mutator{seed: seed, known: map[uint64]struct{}{}}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		made.corpus = append(made.corpus, string(data))
	}
	return made, nil
}

// Input answers the n-th input: first the corpus itself, then mutants.
func (m *Mutator) Input(n int) []byte {
	if n < len(m.corpus) {
		return []byte(m.corpus[n])
	}
	random := rand.New(rand.NewPCG(m.seed, uint64(n)))
	input := m.any(random)
	for times := 1 + random.IntN(3)*random.IntN(3); times > 0; times-- {
		input = m.mutate(input, random)
	}
	return []byte(input)
}

// any picks from the corpus; one that is large only now and then, because it takes a hundred times as long to read.
func (m *Mutator) any(random *rand.Rand) string {
	input := m.corpus[random.IntN(len(m.corpus))]
	if len(input) > large && random.IntN(50) > 0 {
		return m.any(random)
	}
	return input
}

// New tells whether an input was not sent before.
func (m *Mutator) New(input []byte) bool {
	sum := fnv.New64a()
	sum.Write(input)
	if _, ok := m.known[sum.Sum64()]; ok || len(m.known) > remembered {
		return !ok
	}
	m.known[sum.Sum64()] = struct{}{}
	return true
}

func (m *Mutator) mutate(input string, random *rand.Rand) string {
	switch random.IntN(16) {
	case 0, 1, 2:
		return onTokens(input, random)
	case 3, 4, 5, 6:
		return onField(input, random)
	case 7, 8:
		return onLines(input, random)
	case 9:
		return splice(input, m.any(random), random)
	case 10:
		return join(input, m.any(random), random)
	case 11, 12:
		return wrap(input, random)
	case 13:
		return lineEnds(input, random)
	case 14:
		return pad(input, random)
	default:
		return onBytes(input, random)
	}
}

func pick(random *rand.Rand, from ...string) string { return from[random.IntN(len(from))] }

// onTokens inserts, replaces, removes or doubles one token.
func onTokens(input string, random *rand.Rand) string {
	spans := tokens.FindAllStringIndex(input, -1)
	if len(spans) == 0 {
		return dictionary[random.IntN(len(dictionary))]
	}
	span := spans[random.IntN(len(spans))]
	other := dictionary[random.IntN(len(dictionary))]
	switch random.IntN(5) {
	case 0:
		return input[:span[0]] + input[span[1]:]
	case 1:
		return input[:span[1]] + input[span[0]:]
	case 2:
		return input[:span[0]] + other + input[span[1]:]
	default:
		return input[:span[0]] + other + input[span[0]:]
	}
}

// onField writes a key or a value that matters in another way.
func onField(input string, random *rand.Rand) string {
	spans := fields.FindAllStringIndex(input, -1)
	if len(spans) == 0 {
		return onTokens(input, random)
	}
	span := spans[random.IntN(len(spans))]
	word := input[span[0]:span[1]]
	at := random.IntN(len(word))
	encoded := base64.StdEncoding.EncodeToString([]byte(word))
	head := ""
	switch random.IntN(14) {
	case 0:
		word = `"` + word + `"`
	case 1:
		word = "'" + word + "'"
	case 2:
		word = fmt.Sprintf(`"%s\x%02x%s"`, word[:at], word[at], word[at+1:])
	case 3:
		word = fmt.Sprintf(`"%s\u%04x%s"`, word[:at], word[at], word[at+1:])
	case 4:
		word = fmt.Sprintf("\"%s\\\n      %s\"", word[:at], word[at:])
	case 5:
		word = "!!binary " + encoded
	case 6:
		word = "!!str " + word
	case 7:
		word = "&f " + word
	case 8:
		head, word = "x: &f "+word+"\n", "*f"
	case 9:
		head, word = "x: &f "+word+"\n", "*f "
	case 10:
		word = "? " + word + "\n"
	case 11:
		word = pick(random, strings.ToLower(word), strings.ToUpper(word), word+" ", "! "+word, "<<", "/"+word, word+"/")
	case 12:
		word = "|-\n      " + word + "\n"
	default:
		word = "!!binary |\n      " + encoded + "\n"
	}
	return head + input[:span[0]] + word + input[span[1]:]
}

// onLines moves, doubles, removes or indents a line.
func onLines(input string, random *rand.Rand) string {
	lines := strings.SplitAfter(input, "\n")
	from, to := random.IntN(len(lines)), random.IntN(len(lines))
	switch random.IntN(6) {
	case 0:
		lines[from], lines[to] = lines[to], lines[from]
	case 1:
		lines[from] += lines[from]
	case 2:
		lines[from] = ""
	case 3:
		lines[from] = pick(random, " ", "  ", "\t") + lines[from]
	case 4:
		lines[from] = strings.TrimPrefix(lines[from], pick(random, " ", "  ", "    "))
	default:
		lines[from] = lines[to] + lines[from]
	}
	return strings.Join(lines, "")
}

// splice puts the end of one input behind the beginning of another.
func splice(input, other string, random *rand.Rand) string {
	first, second := strings.SplitAfter(input, "\n"), strings.SplitAfter(other, "\n")
	return strings.Join(first[:random.IntN(len(first)+1)], "") + strings.Join(second[random.IntN(len(second)):], "")
}

// join puts two inputs into one stream, or what looks like one.
func join(input, other string, random *rand.Rand) string {
	return input + pick(random, "---\n", "\n---\n", "--- # c\n", "---\t\n", "...\n", "...\n---\n", "", "\n", " ", "---#\n",
		"--- |\n", "---\r\n", "\u2028---\n", "\n---\n---\n", "\n---\n\ufeff", "\n...\n%YAML 1.1\n---\n") + other
}

// wrap makes an input a part of something larger.
func wrap(input string, random *rand.Rand) string {
	deeper := func(by string) string { return strings.ReplaceAll(input, "\n", "\n"+by) }
	kind := pick(random, "List", "PodList", "list", "ConfigMap", "Service", "DeploymentList", "Pod", "Foo", "''")
	item := pick(random, "items", "items", "items", `"items"`, `"it\x65ms"`, "!!binary aXRlbXM=", "Items", "? items\n")
	switch random.IntN(8) {
	case 0, 1, 2:
		return "apiVersion: v1\nkind: " + kind + "\n" + item + ":\n- " + deeper("  ") + "\n"
	case 3:
		return "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n" + item + ":\n- " + deeper("  ") + "\n"
	case 4:
		return "{\"apiVersion\": \"v1\", \"kind\": \"" + kind + "\", \"items\": [" + input + "]}"
	case 5:
		return "<<:\n  " + deeper("  ") + "\n" + pick(random, "", "kind: Service\n", "x: y\n")
	case 6:
		quote := pick(random, `"`, "'", "|\n", ">\n")
		return "a: " + quote + input + strings.Trim(quote, "|>\n") + "\n"
	default:
		return "x: &w\n  " + deeper("  ") + "\n<<: *w\n"
	}
}

// lineEnds writes one line end, or all of them, in another way.
func lineEnds(input string, random *rand.Rand) string {
	end := pick(random, "\r\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029", "\n\n", " \n", "\t\n", " # c\n")
	if random.IntN(2) == 0 {
		return strings.ReplaceAll(input, "\n", end)
	}
	lines := strings.SplitAfter(input, "\n")
	at := random.IntN(len(lines))
	lines[at] = strings.Replace(lines[at], "\n", end, 1)
	return strings.Join(lines, "")
}

// pad makes some inputs so large that they are read in the quick way.
func pad(input string, random *rand.Rand) string {
	if random.IntN(100) > 0 {
		return pick(random, "\n", "# c\n", "\ufeff", " \n", "---\n", "\t\n", "# c\n---\n") + input
	}
	comment := "#" + strings.Repeat(" padding", 6300) + "\n"
	if random.IntN(2) == 0 {
		return comment + input
	}
	return input + "\n" + comment
}

// onBytes changes bytes without a look at what they are.
func onBytes(input string, random *rand.Rand) string {
	data := []byte(input)
	for times := 1 + random.IntN(3); times > 0 && len(data) > 0; times-- {
		at := random.IntN(len(data))
		switch random.IntN(3) {
		case 0:
			data[at] ^= 1 << random.IntN(8)
		case 1:
			data = append(data[:at], data[at+1:]...)
		default:
			data[at] = byte(random.IntN(128))
		}
	}
	return string(data)
}
