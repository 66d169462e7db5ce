package guard

import (
	"context"
)

// Tier is how much a tool may change, and how much a server allows.
type Tier string

// Tiers. Each includes the ones before it.
const (
	Readonly    Tier = "readonly"
	Mutating    Tier = "mutating"
	Destructive Tier = "destructive"
)

// Allows reports whether a server of tier t offers tools of tier need. An unknown tier
// allows nothing and is allowed nowhere.
func (t Tier) Allows(need Tier) bool {
	rank := map[Tier]int{Readonly: 1, Mutating: 2, Destructive: 3}
	return rank[need] > 0 && rank[t] >= rank[need]
}

// DoesExecute is the effect of tools that run programs or type into them.
const DoesExecute = "execute"

type ceilingKey struct{}

// Below returns ctx for the calls of a batch that runs tools up to a tier.
func Below(ctx context.Context, ceiling Tier) context.Context {
	return context.WithValue(ctx, ceilingKey{}, ceiling)
}

// InBatch reports whether a call is one of a batch.
func InBatch(ctx context.Context) bool { return ctx.Value(ceilingKey{}) != nil }

// TierIn returns the tier that applies to a call: the batch's inside a batch, otherwise own,
// the server's.
func TierIn(ctx context.Context, own Tier) Tier {
	if ceiling, ok := ctx.Value(ceilingKey{}).(Tier); ok && own.Allows(ceiling) {
		return ceiling
	}
	return own
}
