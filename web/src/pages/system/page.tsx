/** The server: health, jobs, tools, usage, configuration and API keys. */
import { getRouteApi } from '@tanstack/react-router';
import { pages } from '@/app/navigation';
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
  health: { label: pages.health.label, content: HealthTab },
  jobs: { label: pages.jobs.label, content: JobsTab },
  tools: { label: pages.tools.label, content: ToolsTab },
  usage: { label: pages.usage.label, content: UsageTab },
  config: { label: pages.config.label, content: ConfigTab },
  keys: { label: pages.keys.label, content: KeysTab },
};

export function SystemPage() {
  const { tab = 'health' } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`${parts[tab].label} · System`);
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
