/** A badge in the top bar if a part of the system does not work. It links to the page with the details. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import * as queries from '@/api/queries';
import type { Health } from '@/api/types';
import { counted } from '@/text/format';

/** Describes each problem in a few words. */
export function problemsOf(health: Pick<Health, 'status' | 'database' | 'mcp_servers' | 'warnings'>): string[] {
  if (health.status === 'healthy') return [];
  const down = health.mcp_servers.filter((server) => server.checked && !server.healthy);
  const problems = [
    ...(health.database === 'ok' ? [] : [`Database: ${health.database}`]),
    ...down.map((server) => `MCP server ${server.id} is not reachable`),
    ...health.warnings.map((warning) => warning.message),
  ];
  return problems.length === 0 ? ['The server reports a problem'] : [...new Set(problems)];
}

export function DegradedBadge() {
  const { data } = useQuery(queries.health());
  const problems = data === undefined ? [] : problemsOf(data);
  return (
    <div role="status" className="contents">
      {problems.length > 0 && (
        <Link
          to="/system"
          title={problems.join('\n')}
          aria-label={`System degraded: ${counted(problems.length, 'problem')}. ${problems.join('; ')}`}
          className="flex h-7 shrink-0 items-center gap-1.5 rounded-full bg-warn-soft px-2 text-xs font-medium text-warn hover:underline pointer-coarse:min-h-11 pointer-coarse:min-w-11 pointer-coarse:justify-center"
          data-testid="degraded"
        >
          <TriangleAlert className="size-3.5" aria-hidden />
          <span className="max-sm:sr-only">Degraded</span>
        </Link>
      )}
    </div>
  );
}
