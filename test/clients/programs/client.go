// Go's net/http, by the standard library alone. Reads its orders and prints one line of JSON an outcome, as errands.mjs
// does. Names below `localhost` are this machine.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
)

type errand struct {
	ID   string          `json:"id"`
	Path string          `json:"path"`
	Body json.RawMessage `json:"body"`
}

type orders struct {
	Origin  string   `json:"origin"`
	Key     string   `json:"key"`
	CAFile  string   `json:"caFile"`
	Errands []errand `json:"errands"`
}

type outcome struct {
	ID        string `json:"id"`
	Status    int    `json:"status,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	Text      string `json:"text"`
}

func main() {
	var all orders
	must(json.Unmarshal(read(os.Args[len(os.Args)-1]), &all))
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(read(all.CAFile))
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trust},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(address)
			return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
		},
	}}
	for _, each := range all.Errands {
		must(json.NewEncoder(os.Stdout).Encode(run(client, all, each)))
	}
}

func run(client *http.Client, all orders, each errand) outcome {
	request, err := http.NewRequest(http.MethodPost, all.Origin+each.Path, bytes.NewReader(each.Body))
	must(err)
	request.Header.Set("Authorization", "Bearer "+all.Key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Request-ID", each.ID)
	answer, err := client.Do(request)
	if err != nil {
		return outcome{ID: each.ID, Text: err.Error()}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(err)
	return outcome{each.ID, answer.StatusCode, answer.Header.Get("X-Request-ID"), string(text)}
}

func read(path string) []byte {
	text, err := os.ReadFile(path)
	must(err)
	return text
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
