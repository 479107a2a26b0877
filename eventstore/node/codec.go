package node

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// exactCodec encodes a message in as many bytes as it has. gRPC's own takes buffers of a
// few sizes, so that the answers that wait for a slow client take up to three times as much.
type exactCodec struct{ encoding.CodecV2 }

func newExactCodec() encoding.CodecV2 { return exactCodec{encoding.GetCodecV2(grpcproto.Name)} }

// Marshal is encoding.CodecV2.
func (exactCodec) Marshal(message any) (mem.BufferSlice, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	b, err := proto.Marshal(m)
	return mem.BufferSlice{mem.SliceBuffer(b)}, err
}
