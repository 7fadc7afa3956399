// SPDX-License-Identifier: Apache-2.0

// An API server that has nodes and nothing else, for extenders that are sent names only.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type apiServer struct {
	server     http.Server
	kubeconfig string
}

// startAPI serves list and watch of so many nodes; nothing ever changes.
func startAPI(count int) (*apiServer, error) {
	list := v1.NodeList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"}, ListMeta: metav1.ListMeta{ResourceVersion: versionMark}}
	for i := range count {
		list.Items = append(list.Items, node(i))
	}
	text, err := json.Marshal(&list)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &apiServer{}
	a.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != "/api/v1/nodes":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"there is no %s"}`, r.URL.Path)
		case r.URL.Query().Get("sendInitialEvents") != "":
			// Not a streaming list: clients fall back to a plain one.
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"message":"sendInitialEvents is forbidden"}`)
		case r.URL.Query().Get("watch") != "":
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = w.Write(text)
		}
	})
	go func() { _ = a.server.Serve(listener) }()
	file, err := os.CreateTemp("", "extenderbench-*.kubeconfig")
	if err != nil {
		a.stop()
		return nil, err
	}
	a.kubeconfig = file.Name()
	_, err = fmt.Fprintf(file, `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":"http://%s"}}],"users":[{"name":"u","user":{}}]}`, listener.Addr())
	if err = errors.Join(err, file.Close()); err != nil {
		a.stop()
		return nil, err
	}
	return a, nil
}

func (a *apiServer) stop() {
	_ = a.server.Close()
	if a.kubeconfig != "" {
		_ = os.Remove(a.kubeconfig)
	}
}
