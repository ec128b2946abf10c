export type ExportFormat = 'json' | 'markdown';

/** Where a session is downloaded as a file: its report, or all its data. */
export function exportAddress(id: string, format: ExportFormat): string {
  return `/api/v1/sessions/${encodeURIComponent(id)}/export?format=${format}`;
}
