import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Trace } from '@/api/types';

/** How often at most a trace is loaded while its session runs; a large one, which takes longer, less often. */
const every = 2_000;
const share = 5;

/** Loads the trace again while the session is ahead of it. */
export function useFreshTrace(query: UseQueryResult<Trace>, version: number): void {
  const began = useRef(0);
  const took = useRef(0);
  const { data, isFetching, refetch } = query;
  const behind = data !== undefined && data.version < version;
  useEffect(() => {
    if (isFetching) {
      began.current = performance.now();
      return () => {
        took.current = performance.now() - began.current;
      };
    }
    if (!behind) return;
    const wait = began.current + Math.max(every, took.current * share) - performance.now();
    const timer = setTimeout(() => void refetch(), Math.max(0, wait));
    return () => clearTimeout(timer);
  }, [behind, isFetching, refetch]);
}
