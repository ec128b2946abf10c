/**
 * Detects the level of a log line by the words that log libraries write. Lines are untrusted, so the work is bounded.
 */

export type Level = 'error' | 'warn' | 'info' | 'debug';

export interface Found {
  level: Level;
  /** The position of the level's word in the line. */
  start: number;
  end: number;
}

/** The level is near the start of a line, after the time and a name or two. */
const looked = 160;

const levels: Record<string, Level> = {
  emerg: 'error',
  alert: 'error',
  crit: 'error',
  critical: 'error',
  fatal: 'error',
  panic: 'error',
  severe: 'error',
  error: 'error',
  err: 'error',
  warning: 'warn',
  warn: 'warn',
  notice: 'info',
  info: 'info',
  debug: 'debug',
  trace: 'debug',
  verbose: 'debug',
};

/** In capitals, in brackets, or as the value of a field; a word in a sentence does not count. */
const word =
  /\b(EMERG|ALERT|CRIT|CRITICAL|FATAL|PANIC|SEVERE|ERROR|ERR|WARNING|WARN|NOTICE|INFO|DEBUG|TRACE|VERBOSE)\b|[[<(](emerg|alert|crit|critical|fatal|panic|severe|error|err|warning|warn|notice|info|debug|trace|verbose)[\]>)]|\b(?:level|lvl|severity|loglevel)"?[=:] ?"?(emerg|alert|crit|critical|fatal|panic|severe|error|err|warning|warn|notice|info|debug|trace|verbose)\b/i;
const capitals = /^[A-Z]+$/;
/** E0412 10:11:12.000000: the format of Kubernetes components. */
const klog = /^([EWIF])\d{4} \d\d:/;
const klogLevels: Record<string, Level> = { E: 'error', F: 'error', W: 'warn', I: 'info' };
/** The type column of `kubectl get events`. */
const kubernetesEvent = /^(?:\S{1,40} {1,20}){0,2}(Warning) {2,}/;

export function levelOf(line: string): Found | undefined {
  const text = line.slice(0, looked);
  const short = klog.exec(text);
  if (short) return { level: klogLevels[short[1] ?? ''] ?? 'info', start: 0, end: 5 };
  const found = firstWord(text);
  if (found) return found;
  const event = kubernetesEvent.exec(text);
  const start = event ? event[0].indexOf('Warning') : -1;
  return start < 0 ? undefined : { level: 'warn', start, end: start + 'Warning'.length };
}

/** Returns the first word written like a level. A bare word counts only in capitals. */
function firstWord(text: string): Found | undefined {
  const search = new RegExp(word, 'gi');
  for (let match = search.exec(text); match; match = search.exec(text)) {
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    if (match[1] !== undefined && !capitals.test(name)) continue;
    const level = levels[name.toLowerCase()];
    const start = match.index + match[0].lastIndexOf(name);
    if (level) return { level, start, end: start + name.length };
  }
  return undefined;
}
