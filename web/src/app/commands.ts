/** The commands that the current page offers in the palette. */
import { createContext, type ReactNode, useContext, useSyncExternalStore } from 'react';
import { Registry, useOffer } from './registry';

interface PageCommand {
  /** Unique on its page. */
  id: string;
  label: string;
  icon?: ReactNode;
  /** Other words that people may type to find it. */
  keywords?: string[];
  run: () => void;
}

const CommandsContext = createContext(new Registry<PageCommand>());

/** Offers the page's commands in the palette while the caller is mounted. */
export function usePageCommands(commands: readonly PageCommand[]): void {
  useOffer(useContext(CommandsContext), commands);
}

/** Returns the commands currently offered. */
export function useCommands(): readonly PageCommand[] {
  const registry = useContext(CommandsContext);
  return useSyncExternalStore(registry.subscribe, registry.snapshot);
}
