/** Formats a verdict as text for a ticket or a chat. */
import type { Verdict } from '@/api/types';
import { withoutMarks } from '@/text/citation';
import { confidenceWord, outcomeWord, riskWord } from '@/text/words';

export function verdictMarkdown(verdict: Verdict): string {
  const blocks = [
    `**${outcomeWord(verdict.outcome)}**${verdict.cause.text ? `: ${withoutMarks(verdict.cause.text)}` : ''}`,
    ...(verdict.impact.text ? [`Impact: ${withoutMarks(verdict.impact.text)}`] : []),
    `Confidence: ${confidenceWord(verdict.confidence)}. ${withoutMarks(verdict.confidence_reason.text)}`.trim(),
  ];
  if (verdict.next_steps.length > 0) {
    const steps = verdict.next_steps.map((step, at) =>
      [
        `${at + 1}. ${step.title} (${riskWord(step.risk).toLowerCase()})`,
        ...(step.why.text ? [`   ${withoutMarks(step.why.text)}`] : []),
        ...(step.command ? [`   \`${step.command}\``] : []),
        ...(step.url ? [`   ${step.url}`] : []),
      ].join('\n'),
    );
    blocks.push(`Next steps:\n${steps.join('\n')}`);
  }
  if (verdict.not_checked.length > 0) {
    blocks.push(`Not checked:\n${verdict.not_checked.map((claim) => `- ${withoutMarks(claim.text)}`).join('\n')}`);
  }
  return `${blocks.join('\n\n')}\n`;
}
