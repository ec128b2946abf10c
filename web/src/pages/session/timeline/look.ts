/** The look of each type of timeline event. A new type needs an entry here; without one it gets a default row. */
import {
  Brain,
  CircleAlert,
  CircleDot,
  ClipboardCheck,
  Code,
  FileText,
  Globe,
  type LucideIcon,
  MessageCircleQuestion,
  MessageSquare,
  Scissors,
  Search,
  Shuffle,
  Wrench,
} from 'lucide-react';

/** The content of an opened row; body.tsx has a component for each. */
type BodyKind = 'markdown' | 'call' | 'text' | 'code' | 'sources' | 'unknown';

export interface Look {
  label: string;
  icon: LucideIcon;
  body: BodyKind;
  /** Quiet rows are subdued; strong ones stand out. */
  weight: 'quiet' | 'plain' | 'strong';
}

const looks: Record<string, Look> = {
  llm_thinking: { label: 'Thinking', icon: Brain, body: 'markdown', weight: 'quiet' },
  llm_response: { label: 'Response', icon: MessageSquare, body: 'markdown', weight: 'plain' },
  llm_tool_call: { label: 'Tool call', icon: Wrench, body: 'call', weight: 'plain' },
  mcp_tool_summary: { label: 'Summary', icon: FileText, body: 'markdown', weight: 'plain' },
  error: { label: 'Error', icon: CircleAlert, body: 'text', weight: 'strong' },
  user_question: { label: 'Question', icon: MessageCircleQuestion, body: 'markdown', weight: 'strong' },
  executive_summary: { label: 'Executive summary', icon: ClipboardCheck, body: 'markdown', weight: 'strong' },
  final_analysis: { label: 'Analysis', icon: ClipboardCheck, body: 'markdown', weight: 'strong' },
  code_execution: { label: 'Code', icon: Code, body: 'code', weight: 'plain' },
  google_search_result: { label: 'Web search', icon: Search, body: 'sources', weight: 'plain' },
  url_context_result: { label: 'Web pages', icon: Globe, body: 'sources', weight: 'plain' },
  provider_fallback: { label: 'Provider fallback', icon: Shuffle, body: 'text', weight: 'quiet' },
  context_shortened: { label: 'Context shortened', icon: Scissors, body: 'text', weight: 'quiet' },
};

export function lookOf(eventType: string): Look {
  return Object.hasOwn(looks, eventType) ? (looks[eventType] ?? strange(eventType)) : strange(eventType);
}

function strange(eventType: string): Look {
  const words = eventType.replaceAll('_', ' ').trim();
  const label = words === '' ? 'Event' : words.slice(0, 40).replace(/^./u, (first) => first.toUpperCase());
  return { label, icon: CircleDot, body: 'unknown', weight: 'plain' };
}
