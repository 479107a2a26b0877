package node

import (
	"fmt"

	"github.com/EventStore/EventStore-Client-Go/v4/protos/streams"
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
	c, isCounted := message.(*counted)
	if isCounted {
		message = c.message
	}
	b, err := encode(message)
	if err != nil || !isCounted {
		return mem.BufferSlice{mem.SliceBuffer(b)}, err
	}
	return c.outbound.handOver(b), nil
}

func encode(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", message)
	}
	if read, ok := message.(*streams.ReadResp); ok {
		if b := encodeRead(read); b != nil {
			return b, nil
		}
	}
	return proto.Marshal(m)
}

// Unmarshal is encoding.CodecV2.
func (c exactCodec) Unmarshal(data mem.BufferSlice, message any) error {
	if request, ok := message.(*streams.AppendReq); ok {
		b := data.MaterializeToBuffer(mem.DefaultBufferPool())
		proposed := decodeProposed(b.ReadOnlyData())
		b.Free()
		if proposed != nil {
			request.Reset()
			request.Content = proposed
			return nil
		}
	}
	return c.CodecV2.Unmarshal(data, message)
}
