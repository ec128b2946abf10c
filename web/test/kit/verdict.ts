/** Scripted verdicts. */

interface Concluded {
  outcome: string;
  cause?: string;
}

/** Returns the route that concludes with a verdict if the analysis has this text. */
export function verdictRoute(when: string, { outcome, cause = '' }: Concluded): string {
  const answer = {
    outcome,
    cause,
    confidence: 'medium',
    confidence_reason: 'One log line.',
    impact: 'Checkout fails.',
    next_steps: [
      {
        title: 'Restart it',
        why: 'It leaks.',
        command: 'kubectl rollout restart deploy/web',
        url: '',
        risk: 'low',
        reversible: true,
      },
    ],
    not_checked: [],
  };
  return `  - {when: {user: {contains: ${when}, matches: "^Write the verdict"}}, replies: [{text: ${JSON.stringify(JSON.stringify(answer))}, times: forever}]}`;
}
