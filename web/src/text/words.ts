/**
 * Returns a search for typed words: it reports whether every word occurs in one of the given texts. Without words it
 * matches everything.
 */
export function searchFor(typed: string): (...texts: readonly string[]) => boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (...texts) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
}

const outcomeWords: Record<string, string> = {
  cause_found: 'Cause found',
  probable_cause: 'Probable cause',
  inconclusive: 'Inconclusive',
  false_alarm: 'False alarm',
  needs_human: 'Needs a person',
};

/** The outcomes of verdicts, in the order of the menus. */
export const outcomes: readonly string[] = Object.keys(outcomeWords);

/** Returns the label of an outcome; one of a newer server is shown with spaces for underscores. */
export function outcomeWord(outcome: string): string {
  return outcomeWords[outcome] ?? outcome.replaceAll('_', ' ');
}

const ratingWords: Record<string, string> = { right: 'Right', partly: 'Partly right', wrong: 'Wrong' };

/** People's ratings of verdicts, best first. */
export const ratings = ['right', 'partly', 'wrong'] as const;

export function ratingWord(rating: string): string {
  return ratingWords[rating] ?? rating;
}

const confidenceWords: Record<string, string> = { high: 'High', medium: 'Medium', low: 'Low' };

export function confidenceWord(confidence: string): string {
  return confidenceWords[confidence] ?? confidence;
}

const riskWords: Record<string, string> = {
  none: 'No risk',
  low: 'Low risk',
  medium: 'Medium risk',
  high: 'High risk',
};

/** Returns the label of a next step's risk. */
export function riskWord(risk: string): string {
  return riskWords[risk] ?? `Risk: ${risk}`;
}

const statusWords: Record<string, string> = {
  pending: 'Queued',
  in_progress: 'Running',
  active: 'Running',
  started: 'Running',
  streaming: 'Running',
  waiting: 'Waiting',
  cancelling: 'Cancelling',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  timed_out: 'Timed out',
  unknown: 'Outcome unknown',
};

/** Returns the label of a status of sessions, stages, executions, calls and events. */
export function statusWord(status: string): string {
  return statusWords[status] ?? status;
}
