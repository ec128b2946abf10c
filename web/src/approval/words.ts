/** The words for the states of approvals, the same on every page. */

const statusWords: Record<string, string> = {
  waiting: 'Waiting for approval',
  approved: 'Approved',
  rejected: 'Rejected',
  expired: 'Expired',
  withdrawn: 'Withdrawn',
};

/** Returns the label of a status; one of a newer server is shown as it is. */
export function approvalWord(status: string): string {
  return statusWords[status] ?? status;
}

/** What is being sent, while it can be undone. */
export const sendingWords = { approved: 'Approving', rejected: 'Rejecting' } as const;
