package readapi

import (
	"context"
	"net/http"

	"reckon/domain/event"
	"reckon/domain/grant"
	"reckon/domain/scope"
	"reckon/internal/access"
	"reckon/internal/auth"
	"reckon/internal/httpkit"
	"reckon/internal/view"
)

type connectionsOutput struct {
	Body struct {
		Connections []connectionRow `json:"connections" doc:"Newest first; those that were disconnected are gone"`
	}
}

type connectionRow struct {
	ConnectionID string          `json:"connection_id" format:"uuid" doc:"Id of the connection"`
	ClientName   string          `json:"client_name" doc:"The app's name for itself"`
	Resource     access.Resource `json:"resource" enum:"api,mcp" doc:"What it may reach: the API, or the MCP endpoint"`
	Scopes       []scope.Scope   `json:"scopes" nullable:"false" enum:"@scopes" doc:"What it may do there"`
	CreatedAt    string          `json:"created_at" format:"date-time" doc:"When you allowed it: RFC 3339, UTC, milliseconds"`
	LastUsedOn   *string         `json:"last_used_on" format:"date" doc:"UTC day it was last used on; null: not yet"`
}

func (s Services) registerConnections(api *httpkit.API) {
	httpkit.Handle(api, httpkit.Route{
		Method: http.MethodGet, Path: "/api/connections", ID: "list-connections", Tag: "Account", Summary: "Connected apps",
		Description: "The apps that you allowed to act for you (OAuth). Always current.",
		Kinds:       []httpkit.Kind{httpkit.Unavailable},
	}, s.connections)
}

// connections lists the grants that are in force: which there are, the identity tables know, and what they allow, their streams.
func (s Services) connections(ctx context.Context, _ *struct{}) (*connectionsOutput, error) {
	grants, err := s.Grants(ctx, auth.PrincipalOf(ctx).Account)
	if err != nil {
		return nil, err
	}
	out := &connectionsOutput{}
	out.Body.Connections = make([]connectionRow, 0, len(grants))
	for _, g := range grants {
		history, err := s.Streams(ctx, grant.Stream(g.ID))
		if err != nil {
			return nil, err
		}
		state := grant.Decider.Fold(event.Events(history))
		if !state.InForce() || state.Account != g.Account {
			continue
		}
		out.Body.Connections = append(out.Body.Connections, connectionRow{
			ConnectionID: g.ID, ClientName: state.ClientName, Resource: access.Resource(state.Resource), Scopes: state.Scopes.Scopes(),
			CreatedAt: event.Timestamp(g.CreatedAt), LastUsedOn: view.NullIfEmpty(g.LastUsedOn),
		})
	}
	return out, nil
}
