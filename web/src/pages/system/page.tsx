/** The server: health, jobs, tools, usage, configuration and API keys. */
import { getRouteApi } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { usePageCommands } from '@/app/commands';
import { useTitle } from '@/app/title';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/ui/tabs';
import { ConfigTab } from './config';
import { HealthTab } from './health';
import { JobsTab } from './jobs';
import { KeysTab } from './keys';
import { type SystemTab, tabs } from './search';
import { ToolsTab } from './tools';
import { UsageTab } from './usage';

const route = getRouteApi('/shell/system');

const parts: Record<SystemTab, { label: string; content: () => React.JSX.Element }> = {
  health: { label: 'Health', content: HealthTab },
  jobs: { label: 'Jobs', content: JobsTab },
  tools: { label: 'Tools', content: ToolsTab },
  usage: { label: 'Usage', content: UsageTab },
  config: { label: 'Config', content: ConfigTab },
  keys: { label: 'Keys', content: KeysTab },
};

export function SystemPage() {
  const { tab = 'health' } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(tab === 'health' ? 'System' : `${parts[tab].label} · System`);
  usePageCommands(
    tabs
      .filter((name) => name !== tab)
      .map((name) => ({
        id: name,
        label: `System: ${parts[name].label}`,
        icon: <Activity aria-hidden />,
        run: () => void navigate({ search: { tab: name === 'health' ? undefined : name } }),
      })),
  );
  return (
    <div className="mx-auto w-full max-w-[150rem] p-4">
      <h1 className="mb-2 text-lg font-semibold">System</h1>
      <Tabs
        value={tab}
        onValueChange={(value) => {
          const chosen = tabs.find((candidate) => candidate === value);
          void navigate({ search: { tab: chosen === 'health' ? undefined : chosen } });
        }}
      >
        <TabsList aria-label="System sections">
          {tabs.map((name) => (
            <TabsTrigger key={name} value={name} className="max-sm:px-2" data-testid={`system-tab-${name}`}>
              {parts[name].label}
            </TabsTrigger>
          ))}
        </TabsList>
        {tabs.map((name) => {
          const Content = parts[name].content;
          return (
            <TabsContent key={name} value={name} className="pt-4">
              <Content />
            </TabsContent>
          );
        })}
      </Tabs>
    </div>
  );
}
