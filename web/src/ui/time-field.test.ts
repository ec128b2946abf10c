import { describe, expect, it } from 'vitest';
import { fromField, toField } from './time-field';

describe('date fields', () => {
  it('are in UTC if chosen', () => {
    expect(toField('2026-07-04T03:05:00.000Z', 'utc')).toBe('2026-07-04T03:05');
    expect(fromField('2026-07-04T03:05', 'utc')).toBe('2026-07-04T03:05:00.000Z');
    expect(fromField('', 'utc')).toBeUndefined();
  });

  it('return the time they were filled with, to the minute', () => {
    const iso = new Date(2026, 6, 4, 3, 5).toISOString();
    expect(toField(iso, 'local')).toBe('2026-07-04T03:05');
    expect(fromField(toField(iso, 'local'), 'local')).toBe(iso);
  });

  it('have no time when they are empty or incomplete', () => {
    expect(fromField('', 'utc')).toBeUndefined();
    expect(fromField('2026-13', 'local')).toBeUndefined();
    expect(toField(undefined, 'local')).toBe('');
  });
});
