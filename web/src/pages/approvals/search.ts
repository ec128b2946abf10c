/** The state of the Approvals page in its address. */
export interface ApprovalsSearch {
  /** The list that is shown; defaults to the calls that wait. */
  show?: 'decided';
}

/** Reads the state from the page's address; unknown values are ignored. */
export function readApprovalsSearch(search: Record<string, unknown>): ApprovalsSearch {
  return { show: search.show === 'decided' ? 'decided' : undefined };
}
