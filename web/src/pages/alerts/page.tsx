/** Alerts that were not investigated automatically, and silences. */
import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { BellOff } from 'lucide-react';
import { keys } from '@/api/alerts';
import { usePageCommands } from '@/app/commands';
import { pages } from '@/app/navigation';
import { ReadOnlyNotice } from '@/app/scope';
import { useTitle } from '@/app/title';
import { useSessionsFeed } from '@/live/hooks';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/ui/tabs';
import { type AlertsTab, tabs } from './search';
import { SilencesTab } from './silences';
import { SuppressedTab } from './suppressed';

const route = getRouteApi('/shell/alerts');

const parts: Record<AlertsTab, { label: string; content: () => React.JSX.Element }> = {
  suppressed: { label: 'Suppressed', content: SuppressedTab },
  silences: { label: 'Silences', content: SilencesTab },
};

export function AlertsPage() {
  const { tab = 'suppressed' } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  useTitle(`${parts[tab].label} · ${pages.alerts.label}`);
  useSessionsFeed(() => {
    const refetchType = document.hidden ? 'none' : 'active';
    void client.invalidateQueries({ queryKey: keys.suppressed, refetchType }, { cancelRefetch: false });
  });
  usePageCommands(
    tabs
      .filter((name) => name !== tab)
      .map((name) => ({
        id: name,
        label: `${pages.alerts.label}: ${parts[name].label}`,
        icon: <BellOff aria-hidden />,
        run: () => void navigate({ search: { tab: name === 'silences' ? 'silences' : undefined } }),
      })),
  );
  return (
    <div className="mx-auto w-full max-w-[150rem] space-y-3 p-3 sm:p-4">
      <h1 className="text-lg font-semibold">{pages.alerts.label}</h1>
      <ReadOnlyNotice />
      <Tabs
        value={tab}
        onValueChange={(value) => void navigate({ search: { tab: value === 'silences' ? 'silences' : undefined } })}
      >
        <TabsList aria-label={pages.alerts.label}>
          {tabs.map((name) => (
            <TabsTrigger key={name} value={name} data-testid={`alerts-tab-${name}`}>
              {parts[name].label}
            </TabsTrigger>
          ))}
        </TabsList>
        {tabs.map((name) => {
          const Content = parts[name].content;
          return (
            <TabsContent key={name} value={name} className="pt-3">
              <Content />
            </TabsContent>
          );
        })}
      </Tabs>
    </div>
  );
}
