import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Trace } from '@/api/types';

/**
 * The shortest interval between two loads of the trace while its session runs, and the longest share of time, one
 * fifth, spent loading: a large trace is loaded less often.
 */
const every = 2_000;
const share = 5;

/** Reloads the trace while it is behind the session. */
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
