export type ExportFormat = 'json' | 'markdown';

/** Returns the download address of a session: its report, or all its data. */
export function exportAddress(id: string, format: ExportFormat): string {
  return `/api/v1/sessions/${encodeURIComponent(id)}/export?format=${format}`;
}
