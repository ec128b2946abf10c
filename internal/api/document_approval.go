package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Each documents the values of the type that it stands for.
type (
	approvalStatusSchema string
	approvalScopeSchema  string
)

// registerApprovalTypes makes the document list the values of the types of approvals.
func registerApprovalTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.ApprovalStatus](), reflect.TypeFor[approvalStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.ApprovalScope](), reflect.TypeFor[approvalScopeSchema]())
}

// Schema implements huma.SchemaProvider.
func (approvalStatusSchema) Schema(huma.Registry) *huma.Schema {
	return oneOf(tarsy.ApprovalStatuses())
}

// Schema implements huma.SchemaProvider.
func (approvalScopeSchema) Schema(huma.Registry) *huma.Schema {
	return oneOf([]tarsy.ApprovalScope{tarsy.ScopeCall})
}
