/** The look of each kind of row: an icon and a colour, which also form the legend of the waterfall. */
import { Bot, CircleUser, Layers, type LucideIcon, Unplug, Wrench } from 'lucide-react';
import { cn } from '@/ui/cn';
import type { Kind } from './search';

interface Look {
  /** `word` names one row, `plural` a filter. */
  word: string;
  plural: string;
  icon: LucideIcon;
  text: string;
  bar: string;
}

export const looks: Record<Kind, Look> = {
  stage: { word: 'Stage', plural: 'Stages', icon: Layers, text: 'text-kind-stage', bar: 'bg-kind-stage' },
  agent: { word: 'Agent', plural: 'Agents', icon: CircleUser, text: 'text-kind-agent', bar: 'bg-kind-agent' },
  llm: { word: 'LLM call', plural: 'LLM', icon: Bot, text: 'text-kind-llm', bar: 'bg-kind-llm' },
  tool: { word: 'Tool call', plural: 'Tools', icon: Wrench, text: 'text-kind-tool', bar: 'bg-kind-tool' },
  gap: { word: 'Gap', plural: 'Gaps', icon: Unplug, text: 'text-warn', bar: 'stripes text-warn' },
};

/** The icon of a row, labelled for screen readers. */
export function KindIcon({ kind }: { kind: Kind }) {
  const { icon: Icon, text, word } = looks[kind];
  return <Icon className={cn('size-4 shrink-0', text)} role="img" aria-label={word} />;
}
