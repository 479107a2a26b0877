package node

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
)

// registerReflection registers the service by which tools such as grpcurl learn which calls a server has, in both of its versions.
func registerReflection(to registrar, n *Node) {
	o := reflection.ServerOptions{Services: to}
	reflectionv1.RegisterServerReflectionServer(to, reflected{reflection.NewServerV1(o), n})
	reflectionv1alpha.RegisterServerReflectionServer(to, reflectedAlpha{reflection.NewServer(o), n})
}

// reflected ends calls, which their clients may leave open, when the node closes.
type reflected struct {
	reflectionv1.ServerReflectionServer
	node *Node
}

// ServerReflectionInfo is reflectionv1.ServerReflectionServer.
func (r reflected) ServerReflectionInfo(call reflectionv1.ServerReflection_ServerReflectionInfoServer) error {
	return endWith(r.node, call, func() error { return r.ServerReflectionServer.ServerReflectionInfo(call) })
}

type reflectedAlpha struct {
	reflectionv1alpha.ServerReflectionServer
	node *Node
}

// ServerReflectionInfo is reflectionv1alpha.ServerReflectionServer.
func (r reflectedAlpha) ServerReflectionInfo(call reflectionv1alpha.ServerReflection_ServerReflectionInfoServer) error {
	return endWith(r.node, call, func() error { return r.ServerReflectionServer.ServerReflectionInfo(call) })
}

// endWith returns the result of a handler, or an error when the node closes; then the handler ends with the call.
func endWith(n *Node, call grpc.ServerStream, handler func() error) error {
	ended := make(chan error, 1)
	go func() {
		var err error
		defer func() { ended <- err }()
		defer recoverAsInternal(n.logger, "ServerReflectionInfo", &err)
		err = handler()
	}()
	select {
	case err := <-ended:
		return err
	case <-n.closing:
		return statusError(call.Context(), errShuttingDown)
	}
}
