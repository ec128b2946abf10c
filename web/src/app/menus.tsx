/** The menus of the top bar: time zone, theme, account, and the less used pages. Loaded after the page. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleUserRound, Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { Fragment, useState } from 'react';
import { api } from '@/api/client';
import { asProblem } from '@/api/problem';
import * as queries from '@/api/queries';
import { useZone, zone, zoneAbbreviation, zoneName, zones } from '@/text/zone';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { useNow } from '@/ui/now';
import { Menu, MenuContent, MenuItem, MenuLabel, MenuRadioGroup, MenuRadioItem, MenuTrigger } from '@/ui/overlay';
import { leave } from './leave';
import { MenuFace, moreLabel } from './menu-face';
import { entryLook, type NavigationEntry } from './navigation';
import { type ThemeChoice, themeChoices, useTheme } from './theme';
import { Waiting } from './waiting';

export const themeLabels: Record<ThemeChoice, string> = { system: 'System', light: 'Light', dark: 'Dark' };
export const themeIcons = { system: Monitor, light: Sun, dark: Moon };

export function HeaderMenus({ onHelp }: { onHelp: () => void }) {
  return (
    <>
      <ZoneMenu />
      <Button variant="ghost" size="icon" className="max-lg:hidden" aria-label="Keyboard shortcuts" onClick={onHelp}>
        <Keyboard aria-hidden />
      </Button>
      <ThemeMenu />
      <AccountMenu />
    </>
  );
}

export function ThemeMenu() {
  const [chosen, choose] = useTheme();
  const Icon = themeIcons[chosen];
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button variant="ghost" size="icon" aria-label={`Theme: ${themeLabels[chosen]}`} data-testid="theme-switch">
          <Icon aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent>
        <MenuRadioGroup value={chosen}>
          {themeChoices.map((choice) => {
            const ChoiceIcon = themeIcons[choice];
            return (
              <MenuRadioItem key={choice} value={choice} onSelect={() => choose(choice)}>
                <ChoiceIcon aria-hidden />
                {themeLabels[choice]}
              </MenuRadioItem>
            );
          })}
        </MenuRadioGroup>
      </MenuContent>
    </Menu>
  );
}

const zoneLabels = { local: 'Local time', utc: 'UTC' };

/** Chooses the time zone. Its name is always visible: a time without a zone is ambiguous. */
function ZoneMenu() {
  const chosen = useZone();
  const now = useNow(60_000);
  const name = zoneAbbreviation(chosen, now);
  return (
    <Menu>
      <MenuTrigger asChild>
        <Button
          variant="ghost"
          className="h-8 px-1.5 text-xs tabular-nums"
          aria-label={`Time zone: ${zoneName(chosen)}`}
          title={`Times are shown in ${zoneName(chosen)}`}
          data-testid="zone-switch"
        >
          {name}
        </Button>
      </MenuTrigger>
      <MenuContent>
        <MenuRadioGroup value={chosen}>
          {zones.map((choice) => (
            <MenuRadioItem key={choice} value={choice} onSelect={() => zone.set(choice)} data-testid={`zone-${choice}`}>
              {zoneLabels[choice]}
              {choice === 'local' && <span className="text-ink-soft">{zoneName(choice)}</span>}
            </MenuRadioItem>
          ))}
        </MenuRadioGroup>
      </MenuContent>
    </Menu>
  );
}

/** Renders nothing if no login is required: there is no account to show. */
function AccountMenu() {
  const { data: who } = useQuery(queries.me());
  const [failure, setFailure] = useState('');
  if (!who?.auth_required) return null;

  const logOut = async (event: Event) => {
    event.preventDefault();
    try {
      await api.POST('/api/v1/logout');
      leave();
    } catch (error) {
      setFailure(asProblem(error).message);
    }
  };
  return (
    <Menu onOpenChange={() => setFailure('')}>
      <MenuTrigger asChild>
        <Button variant="ghost" size="icon" aria-label={`Logged in as ${who.name}`} data-testid="account">
          <CircleUserRound aria-hidden />
        </Button>
      </MenuTrigger>
      <MenuContent className="max-w-64">
        <MenuLabel>
          Logged in as <span className="font-semibold break-words text-ink">{who.name}</span>
          <br />
          Role: <span data-testid="account-role">{who.role}</span>
          <br />
          Scopes: {who.scopes.join(', ')}
          {who.visibility.limited && (
            <>
              <br />
              Sees sessions of {[...who.visibility.teams, 'no team'].join(', ')}
            </>
          )}
        </MenuLabel>
        {/* A user logged in by a proxy has no session here to end. */}
        {who.csrf_token !== '' && (
          <MenuItem onSelect={logOut} data-testid="log-out">
            <LogOut aria-hidden /> Log out
          </MenuItem>
        )}
        {failure !== '' && (
          <p role="alert" className="px-2 py-1.5 text-xs break-words text-bad">
            {failure}
          </p>
        )}
      </MenuContent>
    </Menu>
  );
}

/** A menu of pages in the bar. `here` is the current page if the menu contains it. */
export function PagesMenu({
  label,
  entries,
  here,
}: {
  label: string;
  entries: readonly NavigationEntry[];
  here: NavigationEntry | undefined;
}) {
  return (
    <Menu>
      <MenuTrigger asChild>
        <button
          type="button"
          aria-current={here ? 'page' : undefined}
          className={cn(entryLook, 'min-w-0')}
          data-testid={`pages-${label.toLowerCase()}`}
        >
          <MenuFace label={label} entries={entries} here={here} />
        </button>
      </MenuTrigger>
      <MenuContent align="start" className="max-md:mb-1">
        {entries.map((entry, at) => (
          <Fragment key={entry.key}>
            {label === moreLabel && entry.group !== undefined && entry.group !== entries[at - 1]?.group && (
              <MenuLabel>{entry.group}</MenuLabel>
            )}
            <MenuItem asChild className="max-lg:min-h-11 [&_[data-count]]:static [&_[data-count]]:ml-auto">
              <Link
                to={entry.to}
                search={entry.search ?? {}}
                activeOptions={{ exact: true }}
                aria-current={entry === here ? 'page' : undefined}
              >
                <entry.icon aria-hidden /> {entry.label}
                <Waiting entries={[entry]} />
              </Link>
            </MenuItem>
          </Fragment>
        ))}
      </MenuContent>
    </Menu>
  );
}
