package live

import "tarsy.dev/tarsy"

// decided applies a change of an approval. The journal is read from its beginning, so a request can arrive after its decision is already
// known; the decision is kept.
func (s *Session) decided(p tarsy.ApprovalStatusPayload) {
	item := s.Find(p.EventID)
	if item == nil || item.Type != tarsy.EventToolCall {
		return
	}

	metadata := tarsy.MetadataAs[tarsy.ToolCallMetadata](item.Metadata)
	if metadata.Approval != nil && metadata.Approval.Status.Final() && !p.Approval.Status.Final() {
		return
	}

	metadata.ApprovalID, metadata.Approval = p.ApprovalID, &p.Approval
	item.Metadata = item.Metadata.Merge(tarsy.NewMetadata(metadata))
	item.Revision++
}
