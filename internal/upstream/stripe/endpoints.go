package stripe

import (
	"context"

	api "github.com/stripe/stripe-go/v85"
)

// endpoints are the methods of the library that we call. A Client does not hold the library's
// own client, because the linker keeps every method of the types that are reachable from a
// value in an interface: the whole library would be a tenth of the binary.
type endpoints struct {
	createVerification createFunc[api.IdentityVerificationSessionCreateParams, api.IdentityVerificationSession]
	getVerification    objectFunc[api.IdentityVerificationSessionRetrieveParams, api.IdentityVerificationSession]
	detachMethod       objectFunc[api.PaymentMethodDetachParams, api.PaymentMethod]
	createRefund       createFunc[api.RefundCreateParams, api.Refund]
	getDispute         objectFunc[api.DisputeRetrieveParams, api.Dispute]
	listDisputes       listFunc[api.DisputeListParams, api.Dispute]
	listCharges        listFunc[api.ChargeListParams, api.Charge]
	listRefunds        listFunc[api.RefundListParams, api.Refund]
}

type (
	createFunc[P, T any] = func(context.Context, *P) (*T, error)
	objectFunc[P, T any] = func(ctx context.Context, id string, params *P) (*T, error)
	listFunc[P, T any]   = func(context.Context, *P) *api.V1List[*T]
)

func endpointsOf(client *api.Client) endpoints {
	return endpoints{
		createVerification: client.V1IdentityVerificationSessions.Create, getVerification: client.V1IdentityVerificationSessions.Retrieve,
		detachMethod: client.V1PaymentMethods.Detach, createRefund: client.V1Refunds.Create,
		getDispute: client.V1Disputes.Retrieve, listDisputes: client.V1Disputes.List,
		listCharges: client.V1Charges.List, listRefunds: client.V1Refunds.List,
	}
}
