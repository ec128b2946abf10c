import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Loading, ProblemPanel } from './feedback';

/** Renders the result of a query. If a refetch fails, the known data stays visible below the error. */
export function Answer<T>({
  query,
  what,
  rows,
  children,
}: {
  query: UseQueryResult<T>;
  what: string;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    if (query.isError) return <ProblemPanel className="m-4" error={query.error} retry={retry} />;
    return <Loading what={what} rows={rows} />;
  }
  return (
    <>
      {query.isError && <ProblemPanel className="m-4" error={query.error} retry={retry} />}
      {children(query.data)}
    </>
  );
}
