import { afterEach, describe, expect, it } from 'vitest';
import { zone } from '@/text/zone';
import { fromField, toField } from './time-field';

describe('fields for dates', () => {
  afterEach(() => zone.set('local'));

  it('are in UTC if that was chosen', () => {
    zone.set('utc');
    expect(toField('2026-07-04T03:05:00.000Z')).toBe('2026-07-04T03:05');
    expect(fromField('2026-07-04T03:05')).toBe('2026-07-04T03:05:00.000Z');
    expect(fromField('')).toBeUndefined();
  });

  it('give back the time they were filled with, to the minute', () => {
    const iso = new Date(2026, 6, 4, 3, 5).toISOString();
    expect(toField(iso)).toBe('2026-07-04T03:05');
    expect(fromField(toField(iso))).toBe(iso);
  });

  it('mean no time when they are empty or half filled', () => {
    expect(fromField('')).toBeUndefined();
    expect(fromField('2026-13')).toBeUndefined();
    expect(toField(undefined)).toBe('');
  });
});
