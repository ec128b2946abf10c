import { useQuery } from '@tanstack/react-query';
import { ChevronRight, Plug } from 'lucide-react';
import { useState } from 'react';
import * as queries from '@/api/queries';
import type { MCPServer, Tool } from '@/api/types';
import { payloadOf } from '@/text/payload';
import { Answer } from '@/ui/answer';
import { Badge } from '@/ui/badge';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { EmptyState } from '@/ui/feedback';
import { SearchBox } from '@/ui/search-box';
import { Ago } from '@/ui/time';
import { useSystemSearch } from './address';
import { findTools } from './tool-search';

export function ToolsTab() {
  const servers = useQuery(queries.mcpServers());
  const { search, change } = useSystemSearch();
  const sought = search.q ?? '';
  return (
    <Answer query={servers} what="MCP servers">
      {(data) => {
        if (data.servers.length === 0) {
          return (
            <EmptyState title="No MCP servers" icon={<Plug />}>
              No chain uses an MCP server. Configure servers under{' '}
              <code className="font-mono text-xs">mcp_servers</code>; see docs/configuration.md.
            </EmptyState>
          );
        }
        const found = findTools(data.servers, sought);
        return (
          <div className="space-y-4">
            <SearchBox label="Search tools" value={sought} onChange={(q) => change({ q })} />
            {found.length === 0 && <EmptyState title={`No servers or tools match “${sought}”`} />}
            <div className="space-y-4">
              {found.map((server) => (
                <ServerCard key={server.id} server={server} open={sought.trim() !== ''} />
              ))}
            </div>
          </div>
        );
      }}
    </Answer>
  );
}

function ServerCard({ server, open }: { server: MCPServer; open: boolean }) {
  return (
    <Card aria-label={server.id} data-testid="mcp-server">
      <CardHeader>
        <CardTitle className="min-w-0 break-words">{server.id}</CardTitle>
        {!server.checked ? (
          <Badge tone="idle">Not checked yet</Badge>
        ) : server.healthy ? (
          <Badge tone="good">Healthy</Badge>
        ) : (
          <Badge tone="bad">Unhealthy</Badge>
        )}
        <span className="ml-auto text-xs text-ink-soft">
          {server.transport}
          {server.last_check && (
            <>
              {' · checked '}
              <Ago at={server.last_check} />
            </>
          )}
        </span>
      </CardHeader>
      {server.error && (
        <p className="border-b border-line bg-bad-soft px-4 py-2 font-mono text-xs break-words whitespace-pre-wrap">
          {server.error}
        </p>
      )}
      {server.tools.length === 0 ? (
        <p className="p-4 text-ink-soft">Tools not loaded yet.</p>
      ) : (
        <ul className="grid gap-x-8 gap-y-4 p-4 md:grid-cols-2 xl:grid-cols-3 2xl:grid-cols-4">
          {server.tools.map((tool) => (
            <ToolRow key={tool.name} tool={tool} open={open} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function ToolRow({ tool, open }: { tool: Tool; open: boolean }) {
  return (
    <li className="min-w-0" data-testid="mcp-tool">
      <p className="flex items-baseline gap-2">
        <code className="min-w-0 flex-1 font-mono text-[13px] font-medium break-all">{tool.name}</code>
        <span className={tool.read_only ? 'shrink-0 text-xs text-ink-soft' : 'shrink-0 text-xs font-medium text-warn'}>
          {tool.read_only ? 'read-only' : 'can write'}
        </span>
      </p>
      {tool.description && (
        <p
          className={open ? 'break-words whitespace-pre-wrap text-ink-soft' : 'line-clamp-3 break-words text-ink-soft'}
        >
          {tool.description}
        </p>
      )}
      <Schema of={tool.input_schema} />
    </li>
  );
}

function Schema({ of: schema }: { of: unknown }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="group mt-0.5" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="inline-flex min-h-6 cursor-pointer items-center gap-0.5 text-xs text-accent underline-offset-4 hover:underline">
        <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden />
        Arguments
      </summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
        <pre className="mt-1 max-h-80 overflow-auto rounded bg-sunken p-2 font-mono text-xs" tabIndex={0}>
          {payloadOf(schema ?? 'none').text}
        </pre>
      )}
    </details>
  );
}
